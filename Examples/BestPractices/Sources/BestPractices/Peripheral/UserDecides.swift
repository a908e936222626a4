import CoreBluetooth

/// Let the user decide when the device can be found.
public enum UserDecides {
    /// Advertises as soon as it runs.
    public final class Worse: Lamp {
        override public func published(with manager: CBPeripheralManager) {
            manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        }

        override public func userShares(with manager: CBPeripheralManager) {}
    }

    /// Advertises after the user has asked for it.
    public final class Better: Lamp {
        override public func userShares(with manager: CBPeripheralManager) {
            manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        }
    }
}

import CoreBluetooth

/// Stop advertising when the central is there.
public enum StopAdvertising {
    /// Advertises for as long as it runs.
    public final class Worse: Lamp {
        override public func userShares(with manager: CBPeripheralManager) {
            manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        }

        override public func centralCame(with manager: CBPeripheralManager) {}
    }

    /// Advertises until a central comes.
    public final class Better: Lamp {
        override public func userShares(with manager: CBPeripheralManager) {
            manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        }

        override public func centralCame(with manager: CBPeripheralManager) {
            manager.stopAdvertising()
        }
    }
}

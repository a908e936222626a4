import CoreBluetooth

/// Advertise what fits into 28 octets.
public enum FittingAdvertisement {
    /// Advertises more services than fit. The others go to the overflow area, where most devices do not look.
    public final class Worse: Lamp {
        override public func userShares(with manager: CBPeripheralManager) {
            let services = [CBUUID(string: "6C616D70-0004-4861-7261-6C6420303031"), Self.service]
            manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: services,
                CBAdvertisementDataLocalNameKey: "Lamp at the bed",
            ])
        }
    }

    /// Advertises the service by which centrals look for it.
    public final class Better: Lamp {
        override public func userShares(with manager: CBPeripheralManager) {
            manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: [Self.service],
                CBAdvertisementDataLocalNameKey: "Lamp",
            ])
        }
    }
}

import CoreBluetooth

/// Scan for a short time, also when there is no device.
public enum ShortScans {
    /// Scans until a thermometer comes, which may be never.
    public final class Worse: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(withServices: [Self.service])
        }
    }

    /// Scans for ten seconds. The user can search again.
    public final class Better: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(withServices: [Self.service])
            after(10) { central.stopScan() }
        }
    }
}

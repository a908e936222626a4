import CoreBluetooth

/// Scan only until the device is found.
public enum ScanUntilFound {
    /// Goes on scanning after it has connected.
    public final class Worse: RoomThermometer {
        override public func use(_ found: CBPeripheral, with central: CBCentralManager) {
            peripheral = found
            central.connect(found)
        }
    }

    /// Stops the scan before it connects.
    public final class Better: RoomThermometer {
        override public func use(_ found: CBPeripheral, with central: CBCentralManager) {
            central.stopScan()
            peripheral = found
            central.connect(found)
        }
    }
}

import CoreBluetooth

/// Ask for each advertisement only to show how near a device is.
public enum ReportsOnce {
    /// How long the list of devices on the screen is kept up to date, in seconds.
    private static let time = 45.0

    /// Lists thermometers, and is woken by each of their advertisements.
    public final class Worse: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(
                withServices: [Self.service],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: true]
            )
            after(time) { central.stopScan() }
        }

        override public func use(_ found: CBPeripheral, with central: CBCentralManager) {}
    }

    /// Lists thermometers, each of which is reported once.
    public final class Better: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(withServices: [Self.service])
            after(time) { central.stopScan() }
        }

        override public func use(_ found: CBPeripheral, with central: CBCentralManager) {}
    }
}

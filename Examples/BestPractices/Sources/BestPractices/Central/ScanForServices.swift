import CoreBluetooth

/// Scan for the services that the app uses.
public enum ScanForServices {
    /// Has every device in range reported, and looks for the right one itself.
    public final class Worse: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(withServices: nil)
        }

        override public func use(_ found: CBPeripheral, with central: CBCentralManager) {
            guard found.name == "Room" else { return }
            super.use(found, with: central)
        }
    }

    /// Has only thermometers reported.
    public final class Better: RoomThermometer {
        override public func search(with central: CBCentralManager) {
            central.scanForPeripherals(withServices: [Self.service])
        }
    }
}

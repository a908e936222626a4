import CoreBluetooth

/// Subscribe to values that change, instead of reading them again and again.
public enum Subscribe {
    /// Reads the temperature every second.
    public final class Worse: RoomThermometer {
        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: temperature)
        }

        override public func received(
            _ temperature: CBCharacteristic,
            of peripheral: CBPeripheral,
            with central: CBCentralManager
        ) {
            after(1) { peripheral.readValue(for: temperature) }
        }
    }

    /// Has the thermometer send each new temperature.
    public final class Better: RoomThermometer {
        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.setNotifyValue(true, for: temperature)
        }
    }
}

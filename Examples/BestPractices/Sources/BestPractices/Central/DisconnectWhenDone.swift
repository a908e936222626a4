import CoreBluetooth

/// Disconnect when there is no more data to wait for.
public enum DisconnectWhenDone {
    /// Reads one temperature, and stays connected.
    public final class Worse: RoomThermometer {
        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: temperature)
        }
    }

    /// Reads one temperature, and disconnects.
    public final class Better: RoomThermometer {
        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: temperature)
        }

        override public func received(
            _ temperature: CBCharacteristic,
            of peripheral: CBPeripheral,
            with central: CBCentralManager
        ) {
            central.cancelPeripheralConnection(peripheral)
        }
    }
}

import CoreBluetooth

/// Discover only what the app uses.
public enum NarrowDiscovery {
    /// Discovers all services, and all of their characteristics, for one temperature.
    public final class Worse: RoomThermometer {
        override public func exploreServices(of peripheral: CBPeripheral) {
            peripheral.discoverServices(nil)
        }

        override public func exploreCharacteristics(of service: CBService, of peripheral: CBPeripheral) {
            peripheral.discoverCharacteristics(nil, for: service)
        }

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

    /// Discovers the temperature and nothing else.
    public final class Better: RoomThermometer {
        override public func exploreServices(of peripheral: CBPeripheral) {
            peripheral.discoverServices([Self.service])
        }

        override public func exploreCharacteristics(of service: CBService, of peripheral: CBPeripheral) {
            peripheral.discoverCharacteristics([Self.temperature], for: service)
        }

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

import CoreBluetooth
import Foundation

/// Reconnect to a known device without a scan.
public enum ReconnectToKnown {
    /// The time between two temperatures, in seconds.
    private static let pause = 30.0

    /// Scans for the thermometer each time it needs a temperature.
    public final class Worse: RoomThermometer {
        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: temperature)
        }

        override public func received(
            _ temperature: CBCharacteristic,
            of peripheral: CBPeripheral,
            with central: CBCentralManager
        ) {
            central.cancelPeripheralConnection(peripheral)
            after(pause) { [weak self] in
                self?.peripheral = nil
                self?.search(with: central)
            }
        }
    }

    /// Remembers the thermometer's identifier, and connects.
    public final class Better: RoomThermometer {
        /// An app keeps it in a file, or in its defaults.
        private var identifier: UUID?

        override public func search(with central: CBCentralManager) {
            let known = identifier.flatMap { central.retrievePeripherals(withIdentifiers: [$0]).first }
            guard let known else { return super.search(with: central) }
            peripheral = known
            central.connect(known)
        }

        override public func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: temperature)
        }

        override public func received(
            _ temperature: CBCharacteristic,
            of peripheral: CBPeripheral,
            with central: CBCentralManager
        ) {
            identifier = peripheral.identifier
            central.cancelPeripheralConnection(peripheral)
            after(pause) { [weak self] in self?.search(with: central) }
        }
    }
}

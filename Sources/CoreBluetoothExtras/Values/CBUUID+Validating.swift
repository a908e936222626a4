import BluetoothTypes
import CoreBluetooth
import Foundation

/// What was to be a UUID is none.
public struct InvalidUUID: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was given, as text.
    public var text: String

    /// For a person.
    public var description: String { "\"\(text)\" is no UUID: 4, 8, or 32 hexadecimal digits with hyphens are" }
}

extension CBUUID {
    /// Reads `180D`, `0000180D` or `0000180D-0000-1000-8000-00805F9B34FB`, and throws where `init(string:)` traps
    /// (behaviour 15.28).
    public convenience init(validating text: String) throws(InvalidUUID) {
        guard BluetoothUUID(text) != nil else { throw InvalidUUID(text: text) }
        self.init(string: text)
    }

    /// Reads 2, 4 or 16 octets, and throws where `init(data:)` traps.
    public convenience init(validating data: Data) throws(InvalidUUID) {
        guard BluetoothUUID(bigEndian: data) != nil else {
            throw InvalidUUID(text: data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
        }
        self.init(data: data)
    }
}

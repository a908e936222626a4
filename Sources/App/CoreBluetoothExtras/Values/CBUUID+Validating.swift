import BluetoothTypes
import CoreBluetooth
import Foundation

/// The error for text or data that does not represent a UUID.
public struct InvalidUUID: Error, Hashable, Sendable, CustomStringConvertible {
    /// The given text, or the given data in hexadecimal.
    public var text: String

    /// The error in a sentence that quotes the text.
    public var description: String { "\"\(text)\" is not a UUID; write 4 or 8 hexadecimal digits, or 32 with hyphens" }
}

extension CBUUID {
    /// Creates a UUID from text such as `180D`, `0000180D` or `0000180D-0000-1000-8000-00805F9B34FB`.
    ///
    /// - Parameter text: Four or eight hexadecimal digits, or 32 with hyphens.
    /// - Throws: ``InvalidUUID`` for any other text, where `init(string:)` traps (behaviour 15.28).
    public convenience init(validating text: String) throws(InvalidUUID) {
        guard BluetoothUUID(text) != nil else { throw InvalidUUID(text: text) }
        self.init(string: text)
    }

    /// Creates a UUID from octets, most significant first.
    ///
    /// - Parameter data: The 2, 4 or 16 octets.
    /// - Throws: ``InvalidUUID`` for any other number of octets, where `init(data:)` traps (behaviour 15.28).
    public convenience init(validating data: Data) throws(InvalidUUID) {
        guard BluetoothUUID(bigEndian: data) != nil else {
            throw InvalidUUID(text: data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
        }
        self.init(data: data)
    }
}

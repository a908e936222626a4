import BluetoothTypes
import Foundation

/// An option dictionary as apps write it, with numbers and Booleans as `Bool`, `Int` or `NSNumber`.
struct OptionDictionary {
    private let values: [String: Any]

    init(_ values: [String: Any]?) {
        self.values = values ?? [:]
    }

    /// Returns a Boolean, or nil if the key is missing or has a value of another type.
    func flag(_ key: String) -> Bool? {
        // A native `Bool` does not cast to `Int`, nor an `Int` to `Bool`. An `NSNumber` casts to either.
        values[key] as? Bool ?? (values[key] as? Int).map { $0 != 0 }
    }

    /// Returns a number rounded down to a whole one, at least 0, or nil if the key is missing or has a value of another
    /// type.
    func wholeNumber(_ key: String) -> Int? {
        guard let number = values[key] as? Double ?? (values[key] as? Int).map(Double.init) else { return nil }
        return Int(exactly: number.rounded(.down)).map { max($0, 0) }
    }

    /// Returns a string, or nil if the key is missing or has a value of another type.
    func text(_ key: String) -> String? {
        values[key] as? String
    }

    /// Returns a list of UUIDs, empty if the key is missing or has a value of another type.
    func uuids(_ key: String) -> [CBUUID] {
        values[key] as? [CBUUID] ?? []
    }

    /// Returns the keys other than `known`, sorted.
    func keys(except known: String...) -> [String] {
        values.keys.filter { !known.contains($0) }.sorted()
    }
}

extension Data {
    /// Copies the octets of a packet. The generic initializer for sequences checks its argument's type at run time,
    /// which is slower.
    package init(_ buffer: PacketBuffer) {
        self = buffer.withUnsafeBytes { octets in
            octets.baseAddress.map { Data(bytes: $0, count: octets.count) } ?? Data()
        }
    }
}

import Foundation

/// An option dictionary as apps write it: numbers and truth values as `Bool`, `Int` or `NSNumber`.
struct OptionDictionary {
    private let values: [String: Any]

    init(_ values: [String: Any]?) {
        self.values = values ?? [:]
    }

    /// A truth value; nil when the key is not there or has something else.
    func flag(_ key: String) -> Bool? {
        // A native Bool does not cast to Int, nor an Int to Bool; NSNumber casts to either.
        values[key] as? Bool ?? (values[key] as? Int).map { $0 != 0 }
    }

    /// A number, cut to a whole one that is not negative; nil when the key is not there or has something else.
    func wholeNumber(_ key: String) -> Int? {
        guard let number = values[key] as? Double ?? (values[key] as? Int).map(Double.init) else { return nil }
        return Int(exactly: number.rounded(.down)).map { max($0, 0) }
    }

    /// A text; nil when the key is not there or has something else.
    func text(_ key: String) -> String? {
        values[key] as? String
    }

    /// UUIDs; empty when the key is not there or has something else.
    func uuids(_ key: String) -> [CBUUID] {
        values[key] as? [CBUUID] ?? []
    }

    /// The keys other than `known`, in order.
    func keys(except known: String...) -> [String] {
        values.keys.filter { !known.contains($0) }.sorted()
    }
}

/// Parses untrusted property lists in XML or binary form (plist(5)), with limits on their nesting and size.
/// Foundation's parser has none: a binary list of 130 octets whose arrays contain each other twice unfolds to billions
/// of values, and deeply nested XML overflows the stack.
package enum PropertyList {
    /// The maximum nesting of arrays and dictionaries.
    static let maximumDepth = 16
    /// The maximum number of values and octets of text in total. A value that is referenced twice counts twice.
    static let maximumWeight = 1 << 21

    /// The reason why a list cannot be parsed.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// A value of a type that is not used here: data, or a date.
    struct Other: Hashable {}

    /// Parses a list that consists of a dictionary. The values have the types that Foundation's parser gives them,
    /// except for data and dates.
    package static func dictionary(_ octets: [UInt8]) throws(Fault) -> [String: Any] {
        let value: Any
        if octets.starts(with: BinaryPropertyList.mark) {
            var reader = try BinaryPropertyList(octets)
            value = try reader.root()
        } else {
            var reader = XMLPropertyList(octets)
            value = try reader.root()
        }
        guard let dictionary = value as? [String: Any] else { throw Fault("it is not a dictionary") }
        return dictionary
    }

    /// The values and octets that may still be read, of ``maximumWeight``.
    struct Budget {
        private var weight = maximumWeight

        /// Counts a value with this many octets of text at a depth, and throws if a limit is exceeded.
        mutating func spend(_ octets: Int = 0, depth: Int) throws(Fault) {
            guard depth <= maximumDepth else { throw Fault("it is nested more than \(maximumDepth) levels deep") }
            weight -= 1 + octets
            guard weight >= 0 else { throw Fault("it expands to more than \(maximumWeight) values and octets") }
        }
    }
}

/// Reads property lists that somebody else wrote, in XML or binary form (plist(5)), with bounds on their nesting and size. Foundation's reader
/// has none: a binary list of 130 octets whose arrays hold one another twice unfolds to billions of values, and deep XML overflows the stack.
package enum PropertyList {
    /// Arrays and dictionaries within one another.
    static let maximumDepth = 16
    /// Values and octets of texts in all. What is referred to twice counts twice.
    static let maximumWeight = 1 << 21

    /// Why a list cannot be read.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// A value that Bluetooth has no use for: data, or a date.
    struct Other: Hashable {}

    /// The dictionary that a list consists of. Its values are of the types that Foundation's reader gives them, but for data and dates.
    package static func dictionary(_ octets: [UInt8]) throws(Fault) -> [String: Any] {
        let value: Any
        if octets.starts(with: BinaryPropertyList.mark) {
            var reader = try BinaryPropertyList(octets)
            value = try reader.root()
        } else {
            var reader = XMLPropertyList(octets)
            value = try reader.root()
        }
        guard let dictionary = value as? [String: Any] else { throw Fault("it is no dictionary") }
        return dictionary
    }

    /// What may still be read.
    struct Budget {
        private var weight = maximumWeight

        /// Counts a value with so many octets of text, at a depth.
        mutating func spend(_ octets: Int = 0, depth: Int) throws(Fault) {
            guard depth <= maximumDepth else { throw Fault("it is nested more than \(maximumDepth) deep") }
            weight -= 1 + octets
            guard weight >= 0 else { throw Fault("it unfolds to more than \(maximumWeight) values and octets") }
        }
    }
}

/// A sorted table from 16-bit numbers to names, stored as text in the program.
///
/// The text stays where the loader maps it, and a lookup is a binary search over its octets. A table therefore costs no
/// memory, and no time before its first use. A dictionary literal of this size would slow down every build.
struct NumberTable: Sendable {
    /// Lines of four upper-case hexadecimal digits, a space and the name, in ascending order.
    private let text: StaticString

    /// The number of octets in front of a name.
    private static let keyLength = 5
    private static let newline = UInt8(ascii: "\n")

    init(_ text: StaticString) {
        self.text = text
    }

    /// Returns the name of `number`; nil if it has none.
    subscript(number: UInt16) -> String? {
        text.withUTF8Buffer { octets in
            // Both are always at the start of a line, or at the end of the text.
            var (low, high) = (0, octets.count)
            while low < high {
                let line = Self.line(around: low + (high - low) / 2, from: low, in: octets)
                let key = Self.key(of: line, in: octets)
                if key == number { return Self.name(of: line, in: octets) }
                if key < number { low = line.upperBound + 1 } else { high = line.lowerBound }
            }
            return nil
        }
    }

    /// All numbers with their names, in ascending order.
    var entries: [(number: UInt16, name: String)] {
        text.withUTF8Buffer { octets in
            var (entries, start) = ([(number: UInt16, name: String)](), 0)
            while start < octets.count {
                let line = Self.line(around: start, from: start, in: octets)
                entries.append((Self.key(of: line, in: octets), Self.name(of: line, in: octets)))
                start = line.upperBound + 1
            }
            return entries
        }
    }

    /// Returns the line that contains `index`, without its newline.
    ///
    /// - Parameter first: The start of this line or of an earlier one.
    private static func line(around index: Int, from first: Int, in octets: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let start = octets[first..<index].lastIndex(of: newline).map { $0 + 1 } ?? first
        return start..<(octets[index...].firstIndex(of: newline) ?? octets.count)
    }

    private static func key(of line: Range<Int>, in octets: UnsafeBufferPointer<UInt8>) -> UInt16 {
        octets[line].prefix(4).reduce(0) { $0 << 4 | UInt16($1 < UInt8(ascii: "A") ? $1 & 0xF : ($1 & 0xF) + 9) }
    }

    private static func name(of line: Range<Int>, in octets: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: octets[line].dropFirst(keyLength), as: UTF8.self)
    }
}

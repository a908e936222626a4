/// The entries of a story as lines of text in UTF-8, which are written in large pieces.
package struct StoryLines: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let blank = UInt8(ascii: " ")
    /// The columns of the seconds and of the connection.
    private static let secondsWidth = 6
    private static let connectionWidth = 4

    private var text = TextOctets()

    package init() {}

    /// The lines, each with its line feed. Their characters are visible.
    package var octets: ArraySlice<UInt8> { text.octets }
    package var isEmpty: Bool { text.count == 0 }

    /// Adds a line: the time since the beginning of the capture, the connection, and the words.
    package mutating func add(_ entry: StoryEntry, since begin: Int64) {
        let start = text.count
        let time = UInt64(max(0, entry.unixMicroseconds &- begin))
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
        text.append(seconds, width: Self.secondsWidth, filler: Self.blank)
        text.append(UInt8(ascii: "."))
        text.append(rest, width: Self.secondsWidth)
        text.append("  ")
        let column = text.count
        if let connection = entry.connection {
            text.append(UInt8(ascii: "#"))
            text.append(UInt64(connection))
        }
        text.append(repeating: Self.blank, count: max(1, Self.connectionWidth + 1 - (text.count - column)))
        entry.write(to: &text)
        text.escape(from: start)
        text.append(Self.lineFeed)
    }

    /// Drops the lines, and keeps the memory for others.
    package mutating func removeAll() { text.removeAll() }
}

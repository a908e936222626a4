import AssignedNumbers
import BluetoothTypes

/// The words of an entry, which are put together where the entry is shown.
///
/// Most entries of a long capture are reads and writes: no text is made for those that are not shown.
struct StoryText: Sendable {
    /// The use of an attribute by an end of a link.
    enum Verb: Sendable {
        case reads
        case writes

        fileprivate var text: String { self == .reads ? " reads " : " writes " }
    }

    private var use: (end: LinkEnd, verb: Verb)?
    private let text: String
    private var addition = ""

    init(_ text: String) { self.text = text }

    init(_ end: LinkEnd, _ verb: Verb, _ attribute: String, _ addition: String = "") {
        (use, text, self.addition) = ((end, verb), attribute, addition)
    }

    mutating func append(_ more: String) { addition += more }

    func write(to octets: inout TextOctets) {
        if let use {
            octets.append(use.end.description)
            octets.append(use.verb.text)
        }
        octets.append(text)
        if !addition.isEmpty { octets.append(addition) }
    }
}

extension StoryText: CustomStringConvertible {
    var description: String { TextOctets.string { write(to: &$0) } }
}

/// The value of an attribute, which is put into words where it is shown.
enum StoryValue: Sendable {
    case octets(PacketBuffer)
    /// The value of an attribute of a known type.
    case typed(PacketBuffer, BluetoothUUID)
    /// A value without octets that could be shown.
    case malformed

    /// The longest text, in scalars.
    private static let limit = 160
    /// Values up to this length have a text within the limit: two digits for each octet, and quoted text.
    private static let short = 48

    init(_ octets: PacketBuffer, _ type: BluetoothUUID?) {
        self = type.map { .typed(octets, $0) } ?? .octets(octets)
    }

    func write(to text: inout TextOctets) {
        if case .octets(let octets) = self, Self.write(octets, to: &text) { return }
        text.append(description)
    }

    var description: String {
        switch self {
        case .octets(let octets): ValueText.plain(octets).shortLine(Self.limit)
        case .typed(let octets, let type): ValueText.text(of: octets, in: type).shortLine(Self.limit)
        case .malformed: ""
        }
    }

    /// Writes a short value as `ValueText.plain(_:)` does.
    ///
    /// - Returns: Whether it is written. Text that has to be escaped or shortened is not.
    private static func write(_ octets: PacketBuffer, to text: inout TextOctets) -> Bool {
        guard !octets.isEmpty, octets.count <= short else { return false }
        var (isText, isSimple, before) = (octets.mayBeUTF8, true, UInt8(ascii: "\""))
        for octet in octets {
            if octet < 0x20 || octet == 0x7F { isText = false }
            if octet > 0x7F || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { isSimple = false }
            if octet == UInt8(ascii: " "), before == octet { isSimple = false }
            before = octet
        }
        guard isSimple || !isText else { return false }
        text.append(hexadecimal: octets)
        guard isText else { return true }
        text.append(" \"")
        text.append(octets)
        text.append("\"")
        return true
    }
}

extension StoryText: Hashable {
    static func == (a: StoryText, b: StoryText) -> Bool { a.description == b.description }
    func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension StoryValue: Hashable {
    static func == (a: StoryValue, b: StoryValue) -> Bool { a.description == b.description }
    func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension PacketBuffer {
    /// Whether each first octet of a character has as many continuations as it announces. Otherwise the octets are not
    /// UTF-8.
    fileprivate var mayBeUTF8: Bool {
        var left = 0
        for octet in self {
            if octet & 0xC0 == 0x80 {
                left -= 1
                guard left >= 0 else { return false }
            } else {
                guard left == 0 else { return false }
                left = octet < 0x80 ? 0 : octet < 0xE0 ? 1 : octet < 0xF0 ? 2 : 3
            }
        }
        return left == 0
    }
}

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

/// A coder that prints fields as `name: value`, with nested packets in braces.
public struct FieldPrinter: FieldCoder {
    /// The text so far.
    public private(set) var text = ""
    /// The places of secret fields in the packet, whose values are not printed.
    public private(set) var secrets: [Range<Int>] = []
    private var offset = 0
    private var separator = ""
    private var lastValue: Range<String.Index>?

    /// Creates a printer with an empty text.
    public init() {}

    /// False: a printer changes no values.
    public var isReading: Bool { false }
    /// 0, since there is no input.
    public var remaining: Int { 0 }

    /// Prints an integer: octets and signed integers in decimal, others in hexadecimal.
    public mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        add(name, T.bitWidth <= 8 || T.isSigned ? "\(value)" : "0x" + String(value, radix: 16), octets: T.bitWidth / 8)
    }

    /// Prints a three-octet integer in hexadecimal.
    public mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        add(name, "0x" + String(value, radix: 16), octets: 3)
    }

    /// Prints octets in hexadecimal.
    public mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        add(name, "\(value.prefix(upTo: count))", octets: count)
    }

    /// Prints the word `secret` in place of the value.
    public mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        secrets.append(offset..<offset + count)
        add(name, "secret", octets: count)
    }

    /// Prints octets in hexadecimal.
    public mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        add(name, "\(value)", octets: 1 + value.count)
    }

    /// Prints octets in hexadecimal.
    public mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        add(name, "\(value)", octets: value.count)
    }

    /// Replaces the value printed last with `text`, usually a number with its name.
    public mutating func note(_ name: String, _ text: @autoclosure () -> String) {
        guard let range = lastValue else { return }
        self.text.replaceSubrange(range, with: text())
        lastValue = nil
    }

    /// Prints `name` and an opening brace.
    public mutating func begin(_ name: String) {
        text += "\(separator)\(name) {"
        separator = ""
    }

    /// Prints the closing brace of a nested part.
    public mutating func end() {
        text += "}"
        separator = ", "
    }

    private mutating func add(_ name: String, _ value: String, octets: Int) {
        offset += octets
        text += "\(separator)\(name): "
        let start = text.endIndex
        text += value
        lastValue = start..<text.endIndex
        separator = ", "
    }
}

/// Shows fields to a person as `name: value`, parts in braces.
public struct FieldPrinter: FieldCoder {
    /// What has been printed.
    public private(set) var text = ""
    /// Whether there were fields that are not shown.
    public private(set) var hidesSecrets = false
    private var separator = ""
    private var lastValue: Range<String.Index>?

    /// An empty text.
    public init() {}

    /// Always false.
    public var isReading: Bool { false }
    /// Always 0.
    public var remaining: Int { 0 }

    /// Shows an integer: small ones in decimal, wide ones in hexadecimal.
    public mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        add(name, T.bitWidth <= 8 || T.isSigned ? "\(value)" : "0x" + String(value, radix: 16))
    }

    /// Shows an integer of three octets.
    public mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        add(name, "0x" + String(value, radix: 16))
    }

    /// Shows octets in hexadecimal.
    public mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        add(name, "\(value.prefix(upTo: count))")
    }

    /// Shows that there is something.
    public mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        add(name, "secret")
        hidesSecrets = true
    }

    /// Shows octets in hexadecimal.
    public mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        add(name, "\(value)")
    }

    /// Shows octets in hexadecimal.
    public mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        add(name, "\(value)")
    }

    /// Puts a name in the place of the number that was shown last.
    public mutating func note(_ name: String, _ text: @autoclosure () -> String) {
        guard let range = lastValue else { return }
        self.text.replaceSubrange(range, with: text())
        lastValue = nil
    }

    /// Opens a brace.
    public mutating func begin(_ name: String) {
        text += "\(separator)\(name) {"
        separator = ""
    }

    /// Closes it.
    public mutating func end() {
        text += "}"
        separator = ", "
    }

    private mutating func add(_ name: String, _ value: String) {
        text += "\(separator)\(name): "
        let start = text.endIndex
        text += value
        lastValue = start..<text.endIndex
        separator = ", "
    }
}

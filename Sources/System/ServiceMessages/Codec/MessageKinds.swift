import BluetoothTypes

/// A message, or a part of one, that has several kinds. On the wire it is the number of the kind in one octet, followed
/// by the fields of that kind.
///
/// The number of a kind is its index in ``kinds`` and never changes its meaning. A new kind is appended, with a new
/// protocol version if the other side has to support it.
public protocol MessageKinds: PacketFields {
    /// One placeholder of each kind, to decode into, in the order of their numbers.
    static var kinds: [Self] { get }
    /// Codes the number and name of this value's kind by `FieldCoder.kind(_:_:)`, and then its fields, in wire order.
    ///
    /// - Parameter coder: Reads, writes or prints each field.
    /// - Throws: `PacketError` if the octets being read are not such a message, or exceed one of its limits.
    mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError)
}

/// The kind of a message: its number on the wire, and its name in logs.
public struct MessageKind: Sendable {
    /// The index in ``MessageKinds/kinds``.
    public let number: UInt8
    /// The name for logs and traces.
    public let name: String
}

extension FieldCoder {
    /// Codes the kind of a message. A reader has read the number before, since it selects the fields that follow.
    mutating func kind(_ number: UInt8, _ name: StaticString) throws(PacketError) {
        var number = number
        if !isReading { try field("kind", &number) }
        note("kind", "\(name)")
    }
}

extension MessageKinds {
    /// Creates a placeholder of the first kind, to decode into.
    public init() { self = Self.kinds[0] }

    /// Codes the number of the kind and its fields.
    ///
    /// - Parameter coder: Reads, writes or prints each field.
    /// - Throws: `PacketError` if the octets being read have an unknown kind, or are not such a message.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            var number: UInt8 = 0
            try coder.field("kind", &number)
            guard Int(number) < Self.kinds.count else { throw PacketError(.value(UInt64(number)), at: "\(Self.self)") }
            self = Self.kinds[Int(number)]
        }
        try codeKind(&coder)
    }

    /// The kind of this value. Meant for messages to a person: it codes the value to find out.
    public var kind: MessageKind {
        var (value, finder) = (self, KindFinder())
        try? value.codeKind(&finder)
        return MessageKind(number: finder.number, name: finder.name)
    }
}

/// Finds the kind of a message: what is coded first.
private struct KindFinder: FieldCoder {
    private(set) var number: UInt8 = .max
    private(set) var name = ""
    private var isDone: Bool { !name.isEmpty }
    let isReading = false
    let remaining = 0

    mutating func field<T: FixedWidthInteger>(_: String, _ value: inout T) throws(PacketError) {
        if !isDone { number = UInt8(truncatingIfNeeded: value) }
    }

    mutating func note(_: String, _ text: @autoclosure () -> String) {
        if !isDone { name = text() }
    }

    mutating func uint24(_: String, _: inout UInt32) throws(PacketError) {}
    mutating func bytes(_: String, _: inout PacketBuffer, count: Int) throws(PacketError) {}
    mutating func countedBytes(_: String, _: inout PacketBuffer) throws(PacketError) {}
    mutating func secret(_: String, _: inout PacketBuffer, count: Int) throws(PacketError) {}
    mutating func rest(_: String, _: inout PacketBuffer) throws(PacketError) {}
    mutating func begin(_: String) {}
    mutating func end() {}
}

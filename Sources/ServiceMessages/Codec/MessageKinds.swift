import BluetoothTypes

/// A message, or a part of one, that has several kinds. On the wire it is the number of the kind in one octet, followed
/// by the fields of that kind.
///
/// The number of a kind is its index in ``kinds`` and never changes its meaning. A new kind is appended, with a new
/// protocol version if the other side has to support it.
public protocol MessageKinds: PacketFields {
    /// One placeholder of each kind, to decode into, in the order of their numbers.
    static var kinds: [Self] { get }
    /// The kind of this value.
    var kind: MessageKind { get }
    /// Codes the fields of this value's kind, in wire order.
    ///
    /// - Parameter coder: Reads, writes or prints each field.
    /// - Throws: ``PacketError`` if the octets being read are not such a message, or exceed one of its limits.
    mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError)
}

/// The kind of a message: its number on the wire, and its name in logs.
public struct MessageKind: Sendable {
    /// The index in ``MessageKinds/kinds``.
    public let number: UInt8
    /// The name for logs and traces.
    public let name: StaticString

    init(_ number: UInt8, _ name: StaticString) {
        self.number = number
        self.name = name
    }
}

extension MessageKinds {
    /// Creates a placeholder of the first kind, to decode into.
    public init() { self = Self.kinds[0] }

    /// Codes the number of the kind and its fields.
    ///
    /// - Parameter coder: Reads, writes or prints each field.
    /// - Throws: ``PacketError`` if the octets being read have an unknown kind, or are not such a message.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        let kind = kind
        var number = kind.number
        try coder.field("kind", &number)
        coder.note("kind", "\(kind.name)")
        if coder.isReading {
            guard Int(number) < Self.kinds.count else { throw PacketError(.value(UInt64(number)), at: "\(Self.self)") }
            self = Self.kinds[Int(number)]
        }
        try codeFields(&coder)
    }
}

import BluetoothTypes

/// A message, or a part of one, that is one of several kinds: its number in an octet, then the fields of that kind.
///
/// The numbers follow from the order in ``kinds`` and never change their meaning: a new kind is added at the end, with a new
/// version of the messages where the other side has to know.
public protocol MessageKinds: PacketFields {
    /// The registry: one value of each kind, to be read into.
    static var kinds: [Self] { get }
    /// The kind that this value is of.
    var kind: MessageKind { get }
    /// The fields of the kind that this value is of, in wire order.
    mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError)
}

/// A kind of a message: its number on the wire, and what a person reads instead.
public struct MessageKind: Sendable {
    /// Its place in ``MessageKinds/kinds``.
    public let number: UInt8
    /// Its name.
    public let name: StaticString

    init(_ number: UInt8, _ name: StaticString) {
        self.number = number
        self.name = name
    }
}

extension MessageKinds {
    /// The first kind, to be read into.
    public init() { self = Self.kinds[0] }

    /// Passes the number and the fields to `coder`.
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

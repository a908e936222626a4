import BluetoothTypes

/// A message, or a part of one, that is one of several kinds: its number in an octet, then the fields of that kind.
///
/// The numbers follow from the order in ``kinds`` and never change their meaning: a new kind is added at the end, with a new
/// version of the messages where the other side has to know.
public protocol MessageKinds: PacketFields {
    /// The registry: one value of each kind, to be read into.
    static var kinds: [Self] { get }
    /// The number of the kind that this value is of: its place in ``kinds``.
    var number: UInt8 { get }
    /// The fields of the kind that this value is of, in wire order.
    mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError)
}

extension MessageKinds {
    /// The first kind, to be read into.
    public init() { self = Self.kinds[0] }

    /// Passes the number and the fields to `coder`.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var number = number
        try coder.field("kind", &number)
        if coder.isReading {
            guard Int(number) < Self.kinds.count else { throw PacketError(.value(UInt64(number)), at: "\(Self.self)") }
            self = Self.kinds[Int(number)]
        }
        try codeFields(&coder)
    }
}

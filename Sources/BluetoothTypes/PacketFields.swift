/// A packet, or a part of one, whose wire format is described once, field by field.
///
/// ``code(_:)`` names the fields in wire order. Reading, writing and printing all run through it, each with its own
/// ``FieldCoder``, so that the three can never disagree.
///
/// Whoever prints a packet prints its fields, without those that are secret.
public protocol PacketFields: CustomStringConvertible, CustomReflectable {
    /// A value with every field zero or empty, to be read into.
    init()

    /// Passes every field to `coder` in wire order.
    ///
    /// - Throws: ``PacketError`` when the octets being read are not such a packet.
    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError)

    /// Reads the fields: ``code(_:)`` with a reader. There is a default, and never a reason for another: as a requirement
    /// it is compiled for each packet in the module that describes it, so that no generic code runs unspecialised on the
    /// way of a packet through other modules.
    mutating func read(from reader: inout FieldReader) throws(PacketError)

    /// Appends the fields: ``code(_:)`` with a writer, compiled for each packet as ``read(from:)`` is.
    func write(to writer: inout FieldWriter)
}

/// A value that is one integer on the wire and stays what it is when nobody knows it: an open enumeration or a set
/// of bits. `init(rawValue:)` accepts everything.
public protocol WireValue: Hashable, Sendable {
    /// The integer on the wire.
    associatedtype RawValue: FixedWidthInteger & Sendable
    /// The integer on the wire.
    var rawValue: RawValue { get }
    /// Any integer, known or not.
    init(rawValue: RawValue)
}

/// What happens to each field that a ``PacketFields`` names: ``FieldReader`` fills it, ``FieldWriter`` appends it,
/// ``FieldPrinter`` shows it.
public protocol FieldCoder {
    /// Whether fields are being filled from octets: then a value may be checked, and rejected, as it comes.
    var isReading: Bool { get }
    /// Octets not yet read; 0 when not reading.
    var remaining: Int { get }

    /// A little-endian integer.
    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError)
    /// A little-endian integer of three octets.
    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError)
    /// A little-endian integer of six octets.
    mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError)
    /// Exactly `count` octets.
    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError)
    /// An octet with the length, then so many octets.
    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError)
    /// Exactly `count` octets that nobody may see in a log: a key, or what a key is made from. Every coder has to say what it does
    /// with them, so that none shows them by oversight.
    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError)
    /// All octets that are left.
    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError)
    /// Shows a value to a reader of logs in other words; nothing on the wire.
    mutating func note(_ name: String, _ text: @autoclosure () -> String)
    /// Marks the beginning of a named part.
    mutating func begin(_ name: String)
    /// Marks its end.
    mutating func end()
}

extension FieldCoder {
    /// Passes the six octets as ``bytes(_:_:count:)``.
    public mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        var octets = PacketBuffer((0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
        try bytes(name, &octets, count: 6)
        value = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A little-endian integer that nobody may see in a log.
    public mutating func secret<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        var octets = PacketBuffer(capacity: T.bitWidth / 8)
        octets.append(integer: value)
        try secret(name, &octets, count: T.bitWidth / 8)
        value = octets.reversed().reduce(0) { $0 << 8 | T(truncatingIfNeeded: $1) }
    }

    /// An open enumeration or a set of bits.
    @inlinable
    public mutating func field<T: WireValue>(_ name: String, _ value: inout T) throws(PacketError) {
        var raw = value.rawValue
        try field(name, &raw)
        value = T(rawValue: raw)
        note(name, "\(value)")
    }

    /// A flag in an octet: 0 is false, everything else true.
    @inlinable
    public mutating func field(_ name: String, _ value: inout Bool) throws(PacketError) {
        var raw: UInt8 = value ? 1 : 0
        try field(name, &raw)
        value = raw != 0
    }

    /// A part that is described on its own.
    @inlinable
    public mutating func field<T: PacketFields>(_ name: String, _ value: inout T) throws(PacketError) {
        begin(name)
        try value.code(&self)
        end()
    }

    /// An octet with the number of elements, then the elements. Memory grows with the octets that are there, never by
    /// the number alone.
    @inlinable
    public mutating func list<T: PacketFields>(
        _ countName: String,
        _ name: String,
        _ values: inout [T]
    ) throws(PacketError) {
        var count = UInt8(truncatingIfNeeded: values.count)
        try field(countName, &count)
        try elements(name, &values, count: Int(count))
    }

    /// Exactly `count` elements.
    @inlinable
    public mutating func elements<T: PacketFields>(
        _ name: String,
        _ values: inout [T],
        count: Int
    ) throws(PacketError) {
        guard isReading else {
            for index in 0..<count {
                var value = values[index]
                try field(name, &value)
            }
            return
        }
        values = []
        guard count > 0 else { return }
        var first = T()
        try field(name, &first)
        // There is one in most packets, and an array of one is made in less time than one that grows.
        values = [consume first]
        guard count > 1 else { return }
        // An element has one octet at least.
        values.reserveCapacity(Swift.min(count, 1 + remaining))
        for _ in 1..<count {
            var value = T()
            try field(name, &value)
            values.append(consume value)
        }
    }
}

extension PacketFields {
    /// Reads the fields.
    @inlinable
    public mutating func read(from reader: inout FieldReader) throws(PacketError) {
        try code(&reader)
    }

    /// Appends the fields.
    @inlinable
    public func write(to writer: inout FieldWriter) {
        var copy = self
        // Writing does not reject anything: the values are the caller's own.
        try? copy.code(&writer)
    }

    /// Reads a whole packet.
    ///
    /// - Throws: ``PacketError`` when octets are missing, wrong or left over.
    @inlinable
    public init(reading buffer: PacketBuffer) throws(PacketError) {
        self.init()
        var reader = FieldReader(buffer)
        try read(from: &reader)
        if reader.remaining > 0 { try reader.bytes.end(at: "\(Self.self)") }
    }

    /// Appends the packet to `buffer`.
    @inlinable
    public func write(to buffer: inout PacketBuffer) {
        var writer = FieldWriter(buffer)
        buffer = PacketBuffer([])
        write(to: &writer)
        buffer = writer.buffer
    }

    /// The packet as octets, with headroom for lower layers.
    @inlinable
    public func encoded(capacity: Int = 64) -> PacketBuffer {
        var buffer = PacketBuffer(capacity: capacity)
        write(to: &buffer)
        return buffer
    }

    /// Field names and values for a person, on one line.
    public var fieldDescription: String {
        var printer = FieldPrinter()
        var copy = self
        try? copy.code(&printer)
        return printer.text
    }

    /// The type and the fields.
    public var description: String { "\(Self.self)(\(fieldDescription))" }

    /// Without parts: `dump` shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A packet, or part of one, whose wire format is described once, field by field.
///
/// ``code(_:)`` names the fields in wire order. Reading, writing and printing all run through it, each with its own
/// ``FieldCoder``, so that the three can never disagree.
///
/// `print`, string interpolation and `dump` show the fields of a packet, except for the values of secret ones.
public protocol PacketFields: CustomStringConvertible, CustomReflectable {
    /// Creates a value whose fields are all zero or empty, for reading into.
    init()

    /// Passes every field to `coder`, in wire order.
    ///
    /// - Throws: ``PacketError`` if the octets being read are not such a packet.
    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError)

    /// Reads the fields: ``code(_:)`` with a ``FieldReader``.
    ///
    /// The default implementation is always right. This is a requirement so that it is compiled for each packet in the
    /// module that describes the packet. Otherwise every packet would run through unspecialised generic code in other
    /// modules.
    ///
    /// - Throws: ``PacketError`` if the octets are not such a packet.
    mutating func read(from reader: inout FieldReader) throws(PacketError)

    /// Appends the fields: ``code(_:)`` with a ``FieldWriter``. A requirement for the same reason as ``read(from:)``.
    func write(to writer: inout FieldWriter)
}

/// A value that is one integer on the wire and keeps unassigned values: an open enumeration or an option set.
///
/// `init(rawValue:)` accepts every integer.
public protocol WireValue: Hashable, Sendable {
    /// The type of the integer on the wire.
    associatedtype RawValue: FixedWidthInteger & Sendable
    /// The integer on the wire.
    var rawValue: RawValue { get }
    /// Creates a value from any integer, assigned or not.
    init(rawValue: RawValue)
}

/// The operation that ``PacketFields/code(_:)`` applies to each field.
///
/// ``FieldReader`` reads a field, ``FieldWriter`` appends it, and ``FieldPrinter`` prints it. Only a reader changes the
/// values it is passed, and only a reader throws.
///
/// The `name` of a field is its name in the specification. It appears in errors and in printed packets.
public protocol FieldCoder {
    /// Whether fields are being read. If so, `code(_:)` may validate a value and throw.
    var isReading: Bool { get }
    /// The number of octets left; 0 unless reading.
    var remaining: Int { get }

    /// Codes a little-endian integer.
    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError)
    /// Codes a little-endian integer of three octets.
    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError)
    /// Codes a little-endian integer of six octets.
    mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError)
    /// Codes exactly `count` octets.
    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError)
    /// Codes a length octet and that many octets.
    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError)
    /// Codes exactly `count` octets that must never appear in a log: a key, or key material.
    ///
    /// There is no default implementation, so that no coder prints a secret by oversight.
    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError)
    /// Codes all remaining octets.
    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError)
    /// Offers a more readable form of the field coded last, for logs. Nothing is coded on the wire.
    mutating func note(_ name: String, _ text: @autoclosure () -> String)
    /// Marks the start of a nested part.
    mutating func begin(_ name: String)
    /// Marks the end of a nested part.
    mutating func end()
}

extension FieldCoder {
    /// Codes the six octets through ``bytes(_:_:count:)``.
    public mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        var octets = PacketBuffer((0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
        try bytes(name, &octets, count: 6)
        value = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Codes a little-endian integer that must never appear in a log.
    public mutating func secret<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        var octets = PacketBuffer(capacity: T.bitWidth / 8)
        octets.append(integer: value)
        try secret(name, &octets, count: T.bitWidth / 8)
        value = octets.reversed().reduce(0) { $0 << 8 | T(truncatingIfNeeded: $1) }
    }

    /// Codes an open enumeration or an option set.
    @inlinable
    public mutating func field<T: WireValue>(_ name: String, _ value: inout T) throws(PacketError) {
        var raw = value.rawValue
        try field(name, &raw)
        value = T(rawValue: raw)
        note(name, "\(value)")
    }

    /// Codes a flag in one octet: 0 is false, any other value is true.
    @inlinable
    public mutating func field(_ name: String, _ value: inout Bool) throws(PacketError) {
        var raw: UInt8 = value ? 1 : 0
        try field(name, &raw)
        value = raw != 0
    }

    /// Codes a part that has its own ``PacketFields``.
    @inlinable
    public mutating func field<T: PacketFields>(_ name: String, _ value: inout T) throws(PacketError) {
        begin(name)
        try value.code(&self)
        end()
    }

    /// Codes an octet with the number of elements, then the elements.
    ///
    /// Memory grows with the octets that are present, never with the count alone.
    ///
    /// - Parameters:
    ///   - countName: The name of the count.
    ///   - name: The name of each element.
    ///   - values: The elements, at most 255.
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

    /// Codes exactly `count` elements, whose number is coded elsewhere.
    ///
    /// - Precondition: `values` has at least `count` elements, unless reading.
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
        // Most packets have one element, and an array of one is quicker to create than one that grows.
        values = [consume first]
        guard count > 1 else { return }
        // Each element has at least one octet.
        values.reserveCapacity(Swift.min(count, 1 + remaining))
        for _ in 1..<count {
            var value = T()
            try field(name, &value)
            values.append(consume value)
        }
    }
}

extension PacketFields {
    /// Reads the fields with ``code(_:)``.
    @inlinable
    public mutating func read(from reader: inout FieldReader) throws(PacketError) {
        try code(&reader)
    }

    /// Appends the fields with ``code(_:)``.
    @inlinable
    public func write(to writer: inout FieldWriter) {
        var copy = self
        // Writing never rejects a value: the values are the caller's own.
        try? copy.code(&writer)
    }

    /// Parses a whole packet.
    ///
    /// - Throws: ``PacketError`` if octets are missing, invalid or left over.
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

    /// Returns the packet as octets, with headroom for the headers of lower layers.
    @inlinable
    public func encoded(capacity: Int = 64) -> PacketBuffer {
        var buffer = PacketBuffer(capacity: capacity)
        write(to: &buffer)
        return buffer
    }

    /// The names and values of the fields on one line, without secret values.
    public var fieldDescription: String {
        var printer = FieldPrinter()
        var copy = self
        try? copy.code(&printer)
        return printer.text
    }

    /// The name of the type and the fields, without secret values.
    public var description: String { "\(Self.self)(\(fieldDescription))" }

    /// A mirror without children, so that `dump` shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

import BluetoothTypes
import Foundation

/// Limits of the wire format, in addition to ``ServiceLimits/message``.
enum MessageLimits {
    /// The maximum length of a text, in octets.
    static let text = 4_096
    /// The maximum length of a value, in octets; attributes have up to 512.
    static let value = 65_535
    /// The maximum number of elements of any list. ``ServiceLimits`` contains the limit of each list.
    static let list = 65_535
}

// The wire format of the values in messages, in terms of packet fields. Integers are little-endian. Texts, values and
// lists are preceded by their length in two octets. Optional values are preceded by an octet that tells whether they
// are present.
extension FieldCoder {
    package mutating func number(_ name: String, _ value: inout Int) throws(PacketError) {
        var wide = Int64(value)
        try field(name, &wide)
        value = Int(wide)
    }

    package mutating func number(_ name: String, _ value: inout Double) throws(PacketError) {
        var bits = value.bitPattern
        try field(name, &bits)
        // NaN is not a valid time, and would make a decoded value unequal to itself.
        guard !Double(bitPattern: bits).isNaN else { throw PacketError(.value(bits), at: name) }
        value = Double(bitPattern: bits)
    }

    package mutating func octets(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try length("\(name) length", value.count, limit: MessageLimits.value) { coder, count throws(PacketError) in
            try coder.bytes(name, &value, count: count)
        }
    }

    package mutating func text(_ name: String, _ value: inout String) throws(PacketError) {
        var octets = PacketBuffer(isReading ? [] : Array(value.prefix(octets: MessageLimits.text).utf8))
        try length("\(name) length", octets.count, limit: MessageLimits.text) { coder, count throws(PacketError) in
            try coder.bytes(name, &octets, count: count)
        }
        guard isReading else { return }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw PacketError(.value(UInt64(octets.count)), at: name)
        }
        value = text
    }

    package mutating func uuid(_ name: String, _ value: inout UUID) throws(PacketError) {
        var octets = PacketBuffer(withUnsafeBytes(of: value.uuid) { Array($0) })
        try bytes(name, &octets, count: 16)
        if isReading { value = UUID(Array(octets)) }
    }

    /// Codes the UUID as 2, 4 or 16 octets, most significant first, after their count.
    package mutating func uuid(_ name: String, _ value: inout BluetoothUUID) throws(PacketError) {
        var octets = PacketBuffer(value.bigEndianBytes)
        try countedBytes(name, &octets)
        guard isReading else { return }
        guard let uuid = BluetoothUUID(bigEndian: octets.bytes) else {
            throw PacketError(.length(octets.count), at: name)
        }
        value = uuid
    }

    /// Codes an optional value after an octet that tells whether it is present.
    package mutating func optional<T>(
        _ name: String,
        _ value: inout T?,
        _ blank: @autoclosure () -> T,
        _ code: (inout Self, inout T) throws(PacketError) -> Void
    ) throws(PacketError) {
        var isThere = value != nil
        try field("has \(name)", &isThere)
        guard isThere else { return value = nil }
        var present = value ?? blank()
        try code(&self, &present)
        value = present
    }

    /// Codes a list: the number of elements, followed by the elements. Each element has at least one octet, so memory
    /// use is bounded by the length of the message.
    ///
    /// - Parameter limit: The maximum number of elements when reading. When writing, all elements are written, so that
    ///   the reader can report the error.
    package mutating func list<T>(
        _ name: String,
        _ values: inout [T],
        limit: Int,
        _ blank: @autoclosure () -> T,
        _ code: (inout Self, inout T) throws(PacketError) -> Void
    ) throws(PacketError) {
        let old = values
        var new: [T] = []
        try length("\(name) count", old.count, limit: MessageLimits.list) { coder, count throws(PacketError) in
            if coder.isReading, count > limit { throw PacketError(.excess(count, limit: limit), at: name) }
            if coder.isReading, count > coder.remaining {
                throw PacketError(.truncated(needed: count, available: coder.remaining), at: name)
            }
            new.reserveCapacity(count)
            for index in 0..<count {
                var element = coder.isReading ? blank() : old[index]
                try code(&coder, &element)
                new.append(element)
            }
        }
        values = new
    }

    package mutating func list<T: PacketFields>(_ name: String, _ values: inout [T], limit: Int) throws(PacketError) {
        try list(name, &values, limit: limit, T()) { coder, value throws(PacketError) in try coder.field(name, &value) }
    }

    package mutating func list(_ name: String, _ values: inout [BluetoothUUID], limit: Int) throws(PacketError) {
        try list(name, &values, limit: limit, 0) { coder, value throws(PacketError) in try coder.uuid(name, &value) }
    }

    package mutating func list(_ name: String, _ values: inout [UUID], limit: Int) throws(PacketError) {
        try list(name, &values, limit: limit, .blank) { coder, value throws(PacketError) in try coder.uuid(name, &value)
        }
    }

    package mutating func list(_ name: String, _ values: inout [AttributeHandle], limit: Int) throws(PacketError) {
        try list(name, &values, limit: limit, 0) { coder, value throws(PacketError) in try coder.field(name, &value) }
    }

    package mutating func optional<T: PacketFields>(_ name: String, _ value: inout T?) throws(PacketError) {
        try optional(name, &value, T()) { coder, value throws(PacketError) in try coder.field(name, &value) }
    }

    package mutating func optional(_ name: String, _ value: inout String?) throws(PacketError) {
        try optional(name, &value, "") { coder, value throws(PacketError) in try coder.text(name, &value) }
    }

    package mutating func optional(_ name: String, _ value: inout PacketBuffer?) throws(PacketError) {
        try optional(name, &value, []) { coder, value throws(PacketError) in try coder.octets(name, &value) }
    }

    package mutating func optional(_ name: String, _ value: inout [BluetoothUUID]?, limit: Int) throws(PacketError) {
        try optional(name, &value, []) { coder, value throws(PacketError) in
            try coder.list(name, &value, limit: limit)
        }
    }

    package mutating func optional(_ name: String, _ value: inout [UUID]?, limit: Int) throws(PacketError) {
        try optional(name, &value, []) { coder, value throws(PacketError) in
            try coder.list(name, &value, limit: limit)
        }
    }

    package mutating func optional(_ name: String, _ value: inout Int?) throws(PacketError) {
        try optional(name, &value, 0) { coder, value throws(PacketError) in try coder.number(name, &value) }
    }

    /// Codes a result: an optional error, followed by the value if there is none.
    package mutating func result<T>(
        _ name: String,
        _ value: inout Result<T, ServiceError>,
        _ blank: @autoclosure () -> T,
        _ code: (inout Self, inout T) throws(PacketError) -> Void
    ) throws(PacketError) {
        var error: ServiceError? = if case .failure(let error) = value { error } else { nil }
        try optional("error", &error)
        if let error { return value = .failure(error) }
        var success = if case .success(let success) = value { success } else { blank() }
        try code(&self, &success)
        value = .success(success)
    }

    package mutating func result<T: PacketFields>(
        _ name: String,
        _ value: inout Result<[T], ServiceError>,
        limit: Int
    ) throws(PacketError) {
        try result(name, &value, []) { coder, value throws(PacketError) in
            try coder.list(name, &value, limit: limit)
        }
    }

    package mutating func result(_ name: String, _ value: inout Result<PacketBuffer, ServiceError>) throws(PacketError)
    {
        try result(name, &value, []) { coder, value throws(PacketError) in try coder.octets(name, &value) }
    }

    /// Codes a length in two octets, followed by content of that length.
    private mutating func length(
        _ name: String,
        _ count: Int,
        limit: Int,
        _ code: (inout Self, Int) throws(PacketError) -> Void
    ) throws(PacketError) {
        var length = UInt16(clamping: min(count, limit))
        try field(name, &length)
        guard Int(length) <= limit else { throw PacketError(.length(Int(length)), at: name) }
        try code(&self, Int(length))
    }
}

extension UUID {
    /// The nil UUID, with all bits clear.
    package static let blank = UUID([UInt8](repeating: 0, count: 16))
}

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

/// A value that can be a field of a message, or an element of a list in one.
///
/// Integers are little-endian. Texts, octets and lists are preceded by their length in two octets. Optional values are
/// preceded by an octet that tells whether they are present.
package protocol MessageValue {
    /// A placeholder, to decode into.
    static var blank: Self { get }
    /// Codes the value as the field with this name.
    mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError)
}

extension FieldCoder {
    package mutating func value<T: MessageValue>(_ name: String, _ value: inout T) throws(PacketError) {
        try value.code(as: name, &self)
    }

    /// Codes a field of a message that is rebuilt: returns the value that was read, or the one passed in when writing.
    mutating func value<T: MessageValue>(_ name: String, _ value: T) throws(PacketError) -> T {
        var value = value
        try value.code(as: name, &self)
        return value
    }

    /// Codes a closed enumeration as its raw value in one octet.
    package mutating func choice<T: RawRepresentable>(_ name: String, _ value: inout T) throws(PacketError)
    where T.RawValue: FixedWidthInteger {
        let raw = try self.value(name, UInt8(truncatingIfNeeded: value.rawValue))
        guard let known = T(rawValue: T.RawValue(raw)) else { throw PacketError(.value(UInt64(raw)), at: name) }
        value = known
    }

    /// Codes a length in two octets. A length above the limit is reduced when writing, and refused when reading.
    fileprivate mutating func length(_ name: String, _ count: Int, limit: Int) throws(PacketError) -> Int {
        let length = Int(try value(name, UInt16(clamping: min(count, limit))))
        guard length <= limit else { throw PacketError(.length(length), at: name) }
        return length
    }
}

// MARK: - Lists and results

extension FieldCoder {
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
        let count = try length("\(name) count", values.count, limit: MessageLimits.list)
        if isReading, count > limit { throw PacketError(.excess(count, limit: limit), at: name) }
        if isReading, count > remaining {
            throw PacketError(.truncated(needed: count, available: remaining), at: name)
        }
        let old = values
        var new: [T] = []
        new.reserveCapacity(count)
        for index in 0..<count {
            var element = isReading ? blank() : old[index]
            try code(&self, &element)
            new.append(element)
        }
        values = new
    }

    /// Codes a list whose elements have the name of the list, or one of their own.
    package mutating func list<T: MessageValue>(
        _ name: String,
        of element: String? = nil,
        _ values: inout [T],
        limit: Int
    ) throws(PacketError) {
        try list(name, &values, limit: limit, .blank) { coder, value throws(PacketError) in
            try coder.value(element ?? name, &value)
        }
    }

    mutating func list<T: MessageValue>(_ name: String, _ values: [T], limit: Int) throws(PacketError) -> [T] {
        var values = values
        try list(name, &values, limit: limit)
        return values
    }

    mutating func list<T: MessageValue>(_ name: String, _ values: [T]?, limit: Int) throws(PacketError) -> [T]? {
        guard try value("has \(name)", values != nil) else { return nil }
        var present = values ?? []
        try list(name, &present, limit: limit)
        return present
    }

    /// Codes a result: an optional error, followed by the value if there is none.
    mutating func result<T>(
        _ result: Result<T, ServiceError>,
        _ blank: T,
        _ code: (inout Self, T) throws(PacketError) -> T
    ) throws(PacketError) -> Result<T, ServiceError> {
        let (old, error): (T, ServiceError?) =
            switch result {
            case .success(let value): (value, nil)
            case .failure(let error): (blank, error)
            }
        if let error = try value("error", error) { return .failure(error) }
        return .success(try code(&self, old))
    }

    mutating func result<T: MessageValue>(
        _ name: String,
        _ value: Result<T, ServiceError>
    ) throws(PacketError) -> Result<T, ServiceError> {
        try result(value, .blank) { coder, value throws(PacketError) in try coder.value(name, value) }
    }

    mutating func result<T: MessageValue>(
        _ name: String,
        _ value: Result<[T], ServiceError>,
        limit: Int
    ) throws(PacketError) -> Result<[T], ServiceError> {
        try result(value, []) { coder, value throws(PacketError) in try coder.list(name, value, limit: limit) }
    }
}

// MARK: - Values

extension MessageValue where Self: PacketFields {
    package static var blank: Self { Self() }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        try coder.field(name, &self)
    }
}

extension MessageValue where Self: WireValue {
    package static var blank: Self { Self(rawValue: 0) }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        try coder.field(name, &self)
    }
}

extension MessageValue where Self: FixedWidthInteger {
    package static var blank: Self { 0 }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        try coder.field(name, &self)
    }
}

extension UInt8: MessageValue {}
extension UInt16: MessageValue {}
extension UInt32: MessageValue {}
extension UInt64: MessageValue {}

extension Int: MessageValue {
    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        var wide = Int64(self)
        try coder.field(name, &wide)
        self = Int(wide)
    }
}

extension Bool: MessageValue {
    package static var blank: Bool { false }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        try coder.field(name, &self)
    }
}

extension Double: MessageValue {
    package static var blank: Double { 0 }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        let bits = try coder.value(name, bitPattern)
        // NaN is not a valid time, and would make a decoded value unequal to itself.
        guard !Double(bitPattern: bits).isNaN else { throw PacketError(.value(bits), at: name) }
        self = Double(bitPattern: bits)
    }
}

extension PacketBuffer: MessageValue {
    package static var blank: PacketBuffer { [] }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        let count = try coder.length("\(name) length", count, limit: MessageLimits.value)
        try coder.bytes(name, &self, count: count)
    }
}

extension String: MessageValue {
    package static var blank: String { "" }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        var octets = PacketBuffer(coder.isReading ? [] : Array(prefix(octets: MessageLimits.text).utf8))
        let count = try coder.length("\(name) length", octets.count, limit: MessageLimits.text)
        try coder.bytes(name, &octets, count: count)
        if coder.isReading { self = try String(octets, at: name) }
    }

    /// Decodes the text of a field.
    init(_ octets: PacketBuffer, at name: String) throws(PacketError) {
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw PacketError(.value(UInt64(octets.count)), at: name)
        }
        self = text
    }
}

extension UUID: MessageValue {
    /// The nil UUID, with all bits clear.
    package static let blank = UUID([UInt8](repeating: 0, count: 16))

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        var octets = PacketBuffer(withUnsafeBytes(of: uuid) { Array($0) })
        try coder.bytes(name, &octets, count: 16)
        if coder.isReading { self = UUID(Array(octets)) }
    }
}

extension BluetoothUUID: MessageValue {
    package static var blank: BluetoothUUID { 0 }

    /// Codes the UUID as 2, 4 or 16 octets, most significant first, after their count.
    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        var octets = PacketBuffer(bigEndianBytes)
        try coder.countedBytes(name, &octets)
        guard coder.isReading else { return }
        guard let uuid = BluetoothUUID(bigEndian: octets.bytes) else {
            throw PacketError(.length(octets.count), at: name)
        }
        self = uuid
    }
}

extension Optional: MessageValue where Wrapped: MessageValue {
    package static var blank: Wrapped? { nil }

    package mutating func code<C: FieldCoder>(as name: String, _ coder: inout C) throws(PacketError) {
        guard try coder.value("has \(name)", self != nil) else {
            self = nil
            return
        }
        var present: Wrapped = self ?? .blank
        try present.code(as: name, &coder)
        self = present
    }
}

import BluetoothTypes
import Foundation

// Variants for fields of values that are rebuilt: each returns the value that was read, or the one passed in when
// writing.
extension FieldCoder {
    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: T) throws(PacketError) -> T {
        var value = value
        try field(name, &value)
        return value
    }

    mutating func field<T: WireValue>(_ name: String, _ value: T) throws(PacketError) -> T {
        var value = value
        try field(name, &value)
        return value
    }

    mutating func field<T: PacketFields>(_ name: String, _ value: T) throws(PacketError) -> T {
        var value = value
        try field(name, &value)
        return value
    }

    mutating func field(_ name: String, _ value: Bool) throws(PacketError) -> Bool {
        var value = value
        try field(name, &value)
        return value
    }

    mutating func number(_ name: String, _ value: Int) throws(PacketError) -> Int {
        var value = value
        try number(name, &value)
        return value
    }

    mutating func octets(_ name: String, _ value: PacketBuffer) throws(PacketError) -> PacketBuffer {
        var value = value
        try octets(name, &value)
        return value
    }

    mutating func uuid(_ name: String, _ value: UUID) throws(PacketError) -> UUID {
        var value = value
        try uuid(name, &value)
        return value
    }

    mutating func text(_ name: String, _ value: String) throws(PacketError) -> String {
        var value = value
        try text(name, &value)
        return value
    }

    mutating func list<T: PacketFields>(_ name: String, _ values: [T], limit: Int) throws(PacketError) -> [T] {
        var values = values
        try list(name, &values, limit: limit)
        return values
    }

    mutating func list(_ name: String, _ values: [UUID], limit: Int) throws(PacketError) -> [UUID] {
        var values = values
        try list(name, &values, limit: limit)
        return values
    }

    mutating func list(_ name: String, _ values: [BluetoothUUID], limit: Int) throws(PacketError) -> [BluetoothUUID] {
        var values = values
        try list(name, &values, limit: limit)
        return values
    }

    mutating func list(
        _ name: String,
        _ values: [AttributeHandle],
        limit: Int
    ) throws(PacketError) -> [AttributeHandle] {
        var values = values
        try list(name, &values, limit: limit)
        return values
    }

    mutating func optional(
        _ name: String,
        _ value: [BluetoothUUID]?,
        limit: Int
    ) throws(PacketError) -> [BluetoothUUID]? {
        var value = value
        try optional(name, &value, limit: limit)
        return value
    }

    mutating func optional<T: PacketFields>(_ name: String, _ value: T?) throws(PacketError) -> T? {
        var value = value
        try optional(name, &value)
        return value
    }

    mutating func optional(_ name: String, _ value: String?) throws(PacketError) -> String? {
        var value = value
        try optional(name, &value)
        return value
    }

    mutating func optional(_ name: String, _ value: PacketBuffer?) throws(PacketError) -> PacketBuffer? {
        var value = value
        try optional(name, &value)
        return value
    }

    mutating func optional(_ name: String, _ value: TimeInterval?) throws(PacketError) -> TimeInterval? {
        var value = value
        try optional(name, &value, 0) { coder, value throws(PacketError) in try coder.number(name, &value) }
        return value
    }

    mutating func result<T: PacketFields>(
        _ name: String,
        _ value: Result<[T], ServiceError>,
        limit: Int
    ) throws(PacketError) -> Result<[T], ServiceError> {
        var value = value
        try result(name, &value, limit: limit)
        return value
    }

    mutating func result(
        _ name: String,
        _ value: Result<PacketBuffer, ServiceError>
    ) throws(PacketError) -> Result<PacketBuffer, ServiceError> {
        var value = value
        try result(name, &value)
        return value
    }

    mutating func result(
        _ name: String,
        _ value: Result<Int, ServiceError>
    ) throws(PacketError) -> Result<Int, ServiceError> {
        var value = value
        try result(name, &value, 0) { coder, value throws(PacketError) in try coder.number(name, &value) }
        return value
    }

    mutating func result(
        _ name: String,
        _ value: Result<ChannelID, ServiceError>
    ) throws(PacketError) -> Result<ChannelID, ServiceError> {
        var value = value
        try result(name, &value, ChannelID(0)) { coder, value throws(PacketError) in try coder.field(name, &value) }
        return value
    }
}

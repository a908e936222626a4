import BluetoothTypes

/// Properties of every decoder, for any input.
enum Codec {
    /// Decodes `input` twice, once with foreign octets around it: the results must be equal.
    static func read<Value: Equatable>(_ input: FuzzInput, _ decode: (PacketBuffer) throws -> Value) -> Value? {
        let value = try? decode(input.whole)
        let embedded = try? decode(input.embedded)
        hold(value == embedded, "the result depends on octets outside of the packet")
        return value
    }

    /// Checks that a decoded value can be encoded, and decodes to an equal value.
    static func survives<Value: Equatable>(
        _ value: Value,
        encode: (Value) -> PacketBuffer,
        decode: (PacketBuffer) throws -> Value
    ) {
        let octets = encode(value)
        let again = try? decode(octets)
        hold(again != nil, "\(octets) was encoded and cannot be decoded")
        guard let again else { return }
        hold(again == value, "\(octets) decodes to a different value than was encoded")
        hold(encode(again) == octets, "\(octets) has two encodings")
    }

    /// Checks both for a packet that is described by its fields, and that its description is bounded.
    static func check<Value: PacketFields & Equatable>(_ value: Value, decode: (PacketBuffer) throws -> Value) {
        survives(value, encode: { $0.encoded() }, decode: decode)
        hold(value.fieldDescription.utf8.count <= 64 * 1024, "a description of 64 KiB")
    }
}

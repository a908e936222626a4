import BluetoothTypes

/// A packet of the three-wire transport (Core Vol 4 Part D 4): a header with a checksum, a payload, and a data
/// integrity check over both if both ends support it.
struct ThreeWirePacket: Hashable {
    /// The packet types (Core Vol 4 Part D 4.4).
    enum Kind: UInt8 {
        case acknowledgement = 0
        case command = 1
        case acl = 2
        case synchronous = 3
        case event = 4
        case isochronous = 5
        case vendor = 14
        case linkControl = 15
    }

    /// The maximum length of a payload, in octets; its length field has 12 bits.
    static let maximumPayload = 0xFFF
    /// The maximum length of a frame, in octets.
    static let maximumLength = 4 + maximumPayload + 2

    /// The sequence number of a reliable packet, 0 to 7.
    var sequence: UInt8 = 0
    /// The sequence number that the sender expects next, 0 to 7.
    var acknowledgement: UInt8
    /// Whether the packet is retransmitted until it is acknowledged.
    var isReliable = false
    /// Whether a data integrity check follows the payload.
    var isChecked = false
    var kind: Kind
    var payload: [UInt8]

    init(_ kind: Kind, _ payload: [UInt8] = [], acknowledgement: UInt8 = 0) {
        self.kind = kind
        self.payload = payload
        self.acknowledgement = acknowledgement
    }

    /// Parses a frame.
    ///
    /// - Throws: ``PacketError`` if the header checksum or the data integrity check is wrong, the packet type is
    ///   reserved, or the length differs from the one in the header.
    init(frame: [UInt8]) throws(PacketError) {
        guard frame.count >= 4 else { throw PacketError(.truncated(needed: 4, available: frame.count), at: "header") }
        let sum = frame[0..<4].reduce(UInt8(0), &+)
        guard sum == 0xFF else { throw PacketError(.value(UInt64(frame[3])), at: "header checksum") }
        guard let kind = Kind(rawValue: frame[1] & 0x0F) else {
            throw PacketError(.value(UInt64(frame[1] & 0x0F)), at: "packet type")
        }
        let length = Int(frame[1] >> 4) | Int(frame[2]) << 4
        let isChecked = frame[0] & 0x40 != 0
        let whole = 4 + length + (isChecked ? 2 : 0)
        guard frame.count == whole else { throw PacketError(.length(frame.count), at: "payload length") }
        if isChecked {
            let check = UInt16(frame[whole - 2]) << 8 | UInt16(frame[whole - 1])
            guard check == Self.check(frame[..<(whole - 2)]) else {
                throw PacketError(.value(UInt64(check)), at: "data integrity check")
            }
        }
        self.init(kind, Array(frame[4..<4 + length]), acknowledgement: frame[0] >> 3 & 7)
        sequence = frame[0] & 7
        isReliable = frame[0] & 0x80 != 0
        self.isChecked = isChecked
    }

    /// The frame of the packet. The payload must not exceed ``maximumPayload``.
    var frame: [UInt8] {
        var frame = [sequence & 7 | (acknowledgement & 7) << 3]
        if isChecked { frame[0] |= 0x40 }
        if isReliable { frame[0] |= 0x80 }
        frame.append(kind.rawValue | UInt8(truncatingIfNeeded: payload.count << 4))
        frame.append(UInt8(truncatingIfNeeded: payload.count >> 4))
        frame.append(~frame.reduce(UInt8(0), &+))
        frame += payload
        guard isChecked else { return frame }
        let check = Self.check(frame[...])
        return frame + [UInt8(check >> 8), UInt8(truncatingIfNeeded: check)]
    }

    /// Returns the data integrity check over header and payload (Core Vol 4 Part D 5.3.2): the polynomial x¹⁶+x¹²+x⁵+1
    /// over the octets, least significant bit first, with an initial value of all ones and the bits of the result
    /// reversed.
    static func check(_ octets: some Sequence<UInt8>) -> UInt16 {
        var register: UInt16 = 0xFFFF
        for octet in octets {
            register = register >> 4 ^ nibbles[Int((register ^ UInt16(octet)) & 0xF)]
            register = register >> 4 ^ nibbles[Int((register ^ UInt16(octet >> 4)) & 0xF)]
        }
        var reversed: UInt16 = 0
        for bit in 0..<16 where register & 1 << bit != 0 { reversed |= 0x8000 >> bit }
        return reversed
    }

    /// The change of the register by each 4-bit value.
    private static let nibbles: [UInt16] = (0..<16).map { nibble in
        (0..<4).reduce(UInt16(nibble)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
    }
}

/// The link control messages (Core Vol 4 Part D 8).
enum ThreeWireMessage: Hashable {
    case sync
    case syncResponse
    case configuration(ThreeWireConfiguration)
    case configurationResponse(ThreeWireConfiguration)
    case wakeUp
    case woken
    case sleep

    /// Parses the payload of a link control packet. Returns nil for an unknown message, which is to be ignored.
    init?(_ payload: [UInt8]) {
        // A configuration without the field supports none of the options.
        let field = payload.count > 2 ? payload[2] : 0
        switch payload.prefix(2) {
        case [0x01, 0x7E]: self = .sync
        case [0x02, 0x7D]: self = .syncResponse
        case [0x03, 0xFC]: self = .configuration(ThreeWireConfiguration(rawValue: field))
        case [0x04, 0x7B]: self = .configurationResponse(ThreeWireConfiguration(rawValue: field))
        case [0x05, 0xFA]: self = .wakeUp
        case [0x06, 0xF9]: self = .woken
        case [0x07, 0x78]: self = .sleep
        default: return nil
        }
    }

    var payload: [UInt8] {
        switch self {
        case .sync: [0x01, 0x7E]
        case .syncResponse: [0x02, 0x7D]
        case .configuration(let field): [0x03, 0xFC, field.rawValue]
        case .configurationResponse(let field): [0x04, 0x7B, field.rawValue]
        case .wakeUp: [0x05, 0xFA]
        case .woken: [0x06, 0xF9]
        case .sleep: [0x07, 0x78]
        }
    }
}

/// The options that one end supports or both have agreed on (Core Vol 4 Part D 8.6).
struct ThreeWireConfiguration: Hashable {
    /// The sliding window: the number of reliable packets that may be unacknowledged, 1 to 7.
    var window: Int
    /// Whether packets have a data integrity check.
    var isChecked: Bool

    init(window: Int, isChecked: Bool) {
        self.window = min(max(window, 1), 7)
        self.isChecked = isChecked
    }

    /// Parses the configuration field. Out-of-frame flow control is not supported, since it requires a line that loses
    /// no octets.
    init(rawValue: UInt8) { self.init(window: Int(rawValue & 7), isChecked: rawValue & 0x10 != 0) }

    var rawValue: UInt8 { UInt8(window) | (isChecked ? 0x10 : 0) }

    /// Returns the options that both ends support.
    func common(_ other: ThreeWireConfiguration) -> ThreeWireConfiguration {
        ThreeWireConfiguration(window: min(window, other.window), isChecked: isChecked && other.isChecked)
    }
}

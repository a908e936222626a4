import BluetoothTypes
import HCI

/// A PDU of an L2CAP channel, as far as a playback has to understand it.
struct ChannelPDU: Hashable, Sendable {
    static let attributes: UInt16 = 0x0004
    static let signalling: UInt16 = 0x0005
    static let security: UInt16 = 0x0006

    /// The channel that it arrives at.
    let channel: UInt16
    let payload: PacketBuffer

    /// Splits the header from a whole PDU (Core Vol 3 Part A 3.1).
    init?(_ octets: PacketBuffer) {
        guard octets.count >= 4 else { return nil }
        channel = UInt16(octets[2]) | UInt16(octets[3]) << 8
        payload = octets.suffix(after: 4)
    }

    init(channel: UInt16, _ payload: [UInt8]) {
        (self.channel, self.payload) = (channel, PacketBuffer(payload))
    }

    /// The first octet, which names the command on all fixed channels.
    var code: UInt8 { payload.first ?? 0 }

    /// A number of two octets within the payload.
    func word(at index: Int) -> UInt16? {
        guard payload.count >= index + 2 else { return nil }
        return UInt16(payload[index]) | UInt16(payload[index + 1]) << 8
    }

    // MARK: Attributes

    /// Whether it is a request of an ATT client, which has one answer (Core Vol 3 Part F 3.4.8).
    var isAttributeRequest: Bool {
        channel == Self.attributes && code & 0x41 == 0 && code != 0x1E && code != 0
    }
    /// Whether it answers a request of an ATT client.
    var isAttributeResponse: Bool {
        channel == Self.attributes && code & 0x41 == 1 && ![0x1B, 0x1D, 0x23].contains(code)
    }
    /// Whether it is a value that a server sends by itself.
    var isValue: Bool { channel == Self.attributes && [0x1B, 0x1D].contains(code) }

    /// The handle that a PDU of ATT is about, if it is about one.
    var attribute: UInt16? {
        guard channel == Self.attributes else { return nil }
        return [0x0A, 0x0C, 0x12, 0x16, 0x1B, 0x1D, 0x52, 0xD2].contains(code) ? word(at: 1) : nil
    }

    /// Whether it subscribes to the value of an attribute (Core Vol 3 Part G 3.3.3.3). The descriptor follows the value
    /// it belongs to, with other descriptors in between at most.
    func subscribes(to value: UInt16) -> Bool {
        guard [0x12, 0x52].contains(code), payload.count == 5, let handle = attribute else { return false }
        let bits = payload[3]
        return payload[4] == 0 && (bits == 1 || bits == 2 || bits == 3) && handle > value && handle - value <= 4
    }

    // MARK: Signalling

    /// The identifier of a signalling command, which its answer repeats.
    var identifier: UInt8? { channel == Self.signalling && payload.count > 1 ? payload[1] : nil }
    /// Whether it answers a signalling command (Core Vol 3 Part A 4).
    var isSignallingAnswer: Bool {
        channel == Self.signalling && [0x01, 0x03, 0x05, 0x07, 0x0B, 0x13, 0x15, 0x18, 0x1A].contains(code)
    }
    /// Whether it is a signalling command that needs an answer.
    var isSignallingRequest: Bool { channel == Self.signalling && [0x12, 0x14, 0x17, 0x19].contains(code) }

    func with(identifier: UInt8) -> ChannelPDU {
        var octets = [UInt8](payload)
        if octets.count > 1 { octets[1] = identifier }
        return ChannelPDU(channel: channel, octets)
    }

    // MARK: Comparison

    /// How much two PDUs have in common.
    enum Likeness {
        case none, kind, same
    }

    func likeness(to other: ChannelPDU) -> Likeness {
        guard channel == other.channel else { return .none }
        if payload == other.payload { return .same }
        switch channel {
        case Self.signalling:
            if let identifier = other.identifier, with(identifier: identifier).payload == other.payload { return .same }
            return code == other.code ? .kind : .none
        case Self.security: return code == other.code ? .kind : .none
        case Self.attributes:
            guard code == other.code else { return .none }
            // A request about something else has another answer.
            if isAttributeRequest || [0x52, 0xD2].contains(code) {
                guard [0x02, 0x0C, 0x12, 0x16, 0x18, 0x52, 0xD2].contains(code) else { return .none }
            }
            return attribute == other.attribute ? .kind : .none
        default: return .kind
        }
    }

    /// Whether values in it are random numbers, or follow from some.
    var isRandom: Bool { channel == Self.security && (0x03...0x0D).contains(code) && code != 0x05 && code != 0x0B }

    // MARK: Packets

    /// The PDU in packets for a host.
    func packets(on handle: UInt16) -> [HCIPacket] {
        let length = payload.count
        let header = [UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
        let octets = header + [UInt8(truncatingIfNeeded: channel), UInt8(truncatingIfNeeded: channel >> 8)] + payload
        return stride(from: 0, to: octets.count, by: 251).map { start in
            HCIPacket(
                ACLPacket(
                    handle: ConnectionHandle(rawValue: handle),
                    boundary: start == 0 ? .start : .continuation,
                    payload: PacketBuffer(copying: octets[start..<min(start + 251, octets.count)])
                )
            )
        }
    }
}

extension ChannelPDU {
    private static let attributeNames: [UInt8: String] = [
        0x01: "Error Response", 0x02: "Exchange MTU Request", 0x03: "Exchange MTU Response",
        0x04: "Find Information Request", 0x05: "Find Information Response", 0x06: "Find By Type Value Request",
        0x07: "Find By Type Value Response", 0x08: "Read By Type Request", 0x09: "Read By Type Response",
        0x0A: "Read Request", 0x0B: "Read Response", 0x0C: "Read Blob Request", 0x0D: "Read Blob Response",
        0x0E: "Read Multiple Request", 0x0F: "Read Multiple Response", 0x10: "Read By Group Type Request",
        0x11: "Read By Group Type Response", 0x12: "Write Request", 0x13: "Write Response",
        0x16: "Prepare Write Request", 0x17: "Prepare Write Response", 0x18: "Execute Write Request",
        0x19: "Execute Write Response", 0x1B: "Handle Value Notification", 0x1D: "Handle Value Indication",
        0x1E: "Handle Value Confirmation", 0x20: "Read Multiple Variable Request",
        0x21: "Read Multiple Variable Response", 0x23: "Multiple Handle Value Notification", 0x52: "Write Command",
        0xD2: "Signed Write Command",
    ]
    private static let signallingNames: [UInt8: String] = [
        0x01: "Command Reject", 0x06: "Disconnection Request", 0x07: "Disconnection Response",
        0x12: "Connection Parameter Update Request", 0x13: "Connection Parameter Update Response",
        0x14: "LE Credit Based Connection Request", 0x15: "LE Credit Based Connection Response",
        0x16: "Flow Control Credit", 0x17: "Credit Based Connection Request",
        0x18: "Credit Based Connection Response", 0x19: "Credit Based Reconfigure Request",
        0x1A: "Credit Based Reconfigure Response",
    ]
    private static let securityNames: [UInt8: String] = [
        0x01: "Pairing Request", 0x02: "Pairing Response", 0x03: "Pairing Confirm", 0x04: "Pairing Random",
        0x05: "Pairing Failed", 0x06: "Encryption Information", 0x07: "Central Identification",
        0x08: "Identity Information", 0x09: "Identity Address Information", 0x0A: "Signing Information",
        0x0B: "Security Request", 0x0C: "Pairing Public Key", 0x0D: "Pairing DHKey Check",
        0x0E: "Keypress Notification",
    ]

    /// The PDU in words. Keys are not shown.
    var words: String {
        switch channel {
        case Self.attributes: named("ATT", Self.attributeNames)
        case Self.signalling: named("L2CAP", Self.signallingNames)
        case Self.security where isRandom:
            "SMP \(Self.securityNames[code] ?? "command") (\(payload.count) octets)"
        case Self.security: named("SMP", Self.securityNames)
        default: "L2CAP channel 0x\(String(channel, radix: 16)): \(Self.shown(payload))"
        }
    }

    private func named(_ layer: String, _ names: [UInt8: String]) -> String {
        let rest = payload.suffix(after: 1)
        let name = "\(layer) \(names[code] ?? "0x" + String(code, radix: 16))"
        return rest.isEmpty ? name : "\(name): \(Self.shown(rest))"
    }

    private static func shown(_ octets: PacketBuffer) -> String {
        let most = 32
        return octets.count > most ? "\(octets.prefix(upTo: most)) and \(octets.count - most) more" : "\(octets)"
    }
}

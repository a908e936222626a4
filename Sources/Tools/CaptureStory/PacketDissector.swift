import ATT
import AssignedNumbers
import BluetoothTypes
import HCI
import L2CAP
import SMP

/// A protocol layer of a packet.
package enum PacketLayer: String, Sendable, CaseIterable {
    case hci, l2cap, att, smp
    /// The link layer, as a sniffer receives it.
    case air
}

/// A machine that names HCI packets layer by layer, and the attributes in them as far as their discovery was seen.
///
/// Memory is bounded: by ``StoryLimits/openLinks`` links, and what each knows of the attributes.
package struct PacketDissector: Sendable {
    /// The maximum length of a summary, in characters.
    package static let maximumSummary = 200

    private struct Link: Sendable {
        var parts = PerSide(PDUParts())
        var attributes = AttributeStory()
    }

    private var links: [UInt16: Link] = [:]

    package init() {}

    /// Receives a packet, in the order of transmission.
    package mutating func receive(_ packet: HCIPacket, _ direction: HCIDirection) -> DissectedPacket {
        guard packet.kind == .acl, let data = try? ACLPacket(reading: packet.bytes) else {
            follow(packet)
            return DissectedPacket(.controller(packet))
        }
        let side: StorySide = direction == .hostToController ? .near : .far
        if links[data.handle.rawValue] == nil, links.count >= StoryLimits.openLinks { links.removeAll() }
        var link = links.removeValue(forKey: data.handle.rawValue) ?? Link()
        defer { links[data.handle.rawValue] = link }
        guard let pdu = link.parts[side].add(data.payload, isStart: data.boundary.isStart) else {
            return DissectedPacket(.part(isStart: data.boundary.isStart, octets: data.payload.count))
        }
        if pdu.word(at: 2) == 0x0004 {
            _ = link.attributes.receive(pdu.suffix(after: 4), from: side, at: 0, sentAt: 0, packet: 0) { _ in .peer }
        }
        return DissectedPacket(.pdu(pdu, from: side, link.attributes.books))
    }

    /// Returns the layers of a packet that was received, from HCI upwards.
    ///
    /// - Parameter before: The earlier packets with parts of the same PDU.
    package func parts(of packet: HCIPacket, _ direction: HCIDirection, after before: [HCIPacket]) -> [PacketPart] {
        let below = Self.controller(packet).part(at: 0)
        guard packet.kind == .acl, let data = try? ACLPacket(reading: packet.bytes) else { return [below] }
        var assembly = PDUParts()
        var pdu: PacketBuffer?
        for each in before + [packet] {
            guard let part = try? ACLPacket(reading: each.bytes) else { continue }
            pdu = assembly.add(part.payload, isStart: part.boundary.isStart)
        }
        let start = ACLPacket.headerSize
        guard let pdu else {
            let text = "a part of a PDU that does not end with this packet"
            return [below, PacketPart(layer: .l2cap, text: text, start: start)]
        }
        let side: StorySide = direction == .hostToController ? .near : .far
        let middle = Self.channel(of: pdu)
        let top = Self.top(of: pdu, from: side, links[data.handle.rawValue]?.attributes.books)
        guard before.isEmpty else {
            // The fields have no places in one of the packets.
            let text = "\(middle.text), in \(before.count + 1) packets"
            let parts = [below, PacketPart(layer: .l2cap, text: text, start: start)]
            return parts + (top.map { [PacketPart(layer: $0.layer, text: $0.text, start: start)] } ?? [])
        }
        return [below, middle.part(at: start)] + (top.map { [$0.part(at: start + Self.channelHeader)] } ?? [])
    }

    /// Forgets a link that begins or ends.
    private mutating func follow(_ packet: HCIPacket) {
        guard packet.kind == .event, let code = packet.bytes.octet(at: 0) else { return }
        let handle: UInt16? =
            switch (code, packet.bytes.octet(at: 2)) {
            case (0x05, _): packet.bytes.word(at: 3)
            case (0x3E, 0x01?), (0x3E, 0x0A?), (0x3E, 0x29?): packet.bytes.word(at: 4)
            default: nil
            }
        if let handle { links[handle & 0xFFF] = nil }
    }

    // MARK: Layers

    private static func controller(_ packet: HCIPacket) -> LayerPDU {
        let pdu = LayerPDU(layer: .hci, text: PacketPrinter.describe(packet))
        return switch packet.kind {
        case .command: command(packet.bytes, pdu)
        case .event: event(packet.bytes, pdu)
        case .acl: LayerPDU(layer: .hci, text: pdu.text, packet: ACLHeader(of: packet.bytes))
        case .synchronous, .isochronous: pdu
        }
    }

    private static func command(_ octets: PacketBuffer, _ pdu: LayerPDU) -> LayerPDU {
        guard let packet = try? CommandPacket(reading: octets), let command = try? HCICommandRegistry.decode(packet)
        else { return pdu }
        return LayerPDU(layer: .hci, text: pdu.text, packet: command, header: 3)
    }

    private static func event(_ octets: PacketBuffer, _ pdu: LayerPDU) -> LayerPDU {
        guard let packet = try? EventPacket(reading: octets), let event = try? HCIEventRegistry.decode(packet) else {
            return pdu
        }
        let start = octets.count - packet.eventParameters.count
        // The return parameters follow the number of packets and the opcode (Core Vol 4 Part E 7.7.14).
        if let complete = event as? CommandComplete, let response = try? HCICommandRegistry.decodeResponse(complete) {
            return LayerPDU(layer: .hci, text: pdu.text, packet: response, header: start + 3)
        }
        var told = LayerPDU(layer: .hci, text: pdu.text, packet: event, header: start)
        if event is LEAdvertisingReport || event is LEExtendedAdvertisingReport { told.advertising = octets }
        return told
    }

    /// The length of the header of an L2CAP PDU, in octets (Core Vol 3 Part A 3.1).
    static let channelHeader = 4

    static func channel(of pdu: PacketBuffer) -> LayerPDU {
        let channel = pdu.word(at: 2) ?? 0
        let name =
            switch channel {
            case 0x0004: "the attribute channel"
            case 0x0005: "the signalling channel"
            case 0x0006: "the channel of the Security Manager"
            default: "channel \(StoryWords.handle(channel))"
            }
        let text = "\(name), \(StoryWords.count(pdu.count - channelHeader, "octet"))"
        return LayerPDU(layer: .l2cap, text: text, packet: ChannelHeader(of: pdu))
    }

    /// Returns the layer above L2CAP of a PDU; nil if its channel is unknown.
    ///
    /// - Parameter books: The attributes of both ends; nil if they are unknown.
    static func top(of pdu: PacketBuffer, from side: StorySide, _ books: PerSide<AttributeBook>? = nil) -> LayerPDU? {
        let content = pdu.suffix(after: channelHeader)
        return switch pdu.word(at: 2) ?? 0 {
        case 0x0004: attribute(content, from: side, books)
        case 0x0005: signal(content)
        case 0x0006: security(content)
        default: nil
        }
    }

    private static func attribute(
        _ octets: PacketBuffer,
        from side: StorySide,
        _ books: PerSide<AttributeBook>?
    ) -> LayerPDU {
        let opcode = ATTOpcode(rawValue: octets.octet(at: 0) ?? 0)
        let name = names[opcode.rawValue] ?? "opcode \(opcode)"
        do throws(ATTDecodingError) {
            let pdu = try ATTPDU(reading: octets)
            let words = value(of: pdu, from: side, books).map { " (\($0))" } ?? ""
            return layer(.att, name, pdu.packet, header: 1, words)
        } catch {
            return LayerPDU(layer: .att, text: "\(name): malformed, \(octets)")
        }
    }

    /// - Parameter words: What is known besides the fields.
    private static func layer(
        _ layer: PacketLayer,
        _ name: String,
        _ packet: any PacketFields,
        header: Int,
        _ words: String = ""
    ) -> LayerPDU {
        let fields = packet.fieldDescription
        let text = fields.isEmpty ? name : "\(name): \(fields)\(words)"
        return LayerPDU(layer: layer, text: text, packet: packet, header: header)
    }

    /// The attribute and its value in words, if its type is known.
    private static func value(
        of pdu: ATTPDU,
        from side: StorySide,
        _ books: PerSide<AttributeBook>?
    ) -> String? {
        func words(_ handle: UInt16, _ server: StorySide, _ value: PacketBuffer?) -> String? {
            guard let book = books?[server], let type = book.type(of: handle) else { return nil }
            let title = book.title(handle)
            return value.map { "\(title): \(ValueText.text(of: $0, in: type))" } ?? title
        }
        switch pdu {
        case .handleValueNotification(let packet): return words(packet.handle, side, packet.value)
        case .handleValueIndication(let packet): return words(packet.handle, side, packet.value)
        case .readRequest(let packet): return words(packet.handle, side.other, nil)
        case .readBlobRequest(let packet): return words(packet.handle, side.other, nil)
        case .writeRequest(let packet): return words(packet.handle, side.other, packet.value)
        case .writeCommand(let packet): return words(packet.handle, side.other, packet.value)
        default: return nil
        }
    }

    /// The names of the PDUs of the attribute protocol (Core Vol 3 Part F 3.4.8).
    private static let names: [UInt8: String] = [
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

    private static func signal(_ octets: PacketBuffer) -> LayerPDU {
        guard let code = octets.octet(at: 0) else {
            return LayerPDU(layer: .l2cap, text: "an empty signalling command")
        }
        let names: [UInt8: String] = [
            0x01: "Command Reject", 0x06: "Disconnection Request", 0x07: "Disconnection Response",
            0x12: "Connection Parameter Update Request", 0x13: "Connection Parameter Update Response",
            0x14: "LE Credit Based Connection Request", 0x15: "LE Credit Based Connection Response",
            0x16: "Flow Control Credit", 0x17: "Credit Based Connection Request",
            0x18: "Credit Based Connection Response", 0x19: "Credit Based Reconfigure Request",
            0x1A: "Credit Based Reconfigure Response",
        ]
        let name = names[code] ?? "signalling command \(code)"
        guard let packet = try? SignallingPacket(reading: octets), let command = try? packet.command() else {
            return LayerPDU(layer: .l2cap, text: "\(name): \(octets.suffix(after: SignallingPacket.headerLength))")
        }
        return layer(.l2cap, name, command, header: SignallingPacket.headerLength)
    }

    /// Names a command of the Security Manager, with its fields unless it has keys or values of the key exchange.
    private static func security(_ octets: PacketBuffer) -> LayerPDU {
        let code = SMPCode(rawValue: octets.octet(at: 0) ?? 0)
        guard SecretMask.isHarmless(command: code.rawValue), let command = try? SMPCommand(octets) else {
            return LayerPDU(layer: .smp, text: "\(code): secret")
        }
        return layer(.smp, "\(code)", command.packet, header: 1)
    }
}

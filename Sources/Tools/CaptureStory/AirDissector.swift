import BluetoothTypes
import LinkLayer

/// A machine that names the frames of a sniffer, which have the form of `PcapngWriter.LinkType.air`.
///
/// It remembers up to ``StoryLimits/openLinks`` links.
package struct AirDissector: Sendable {
    /// The words for a PDU without payload, with which the ends of a link keep it up.
    package static let emptyPDU = "Empty PDU"
    /// The link type of `PcapngWriter.LinkType.air`.
    package static let linkType = AirFrame.withHeader

    private var links = RecencyTable<UInt32, AirReception>(limit: StoryLimits.openLinks)

    package init() {}

    /// Receives a frame, in the order of transmission, and returns it in one line.
    ///
    /// - Parameter linkType: The link type of the capture. Only the usual one tells primary advertising channels.
    package mutating func receive(_ octets: PacketBuffer, linkType: UInt32 = Self.linkType) -> PacketSummary {
        guard let frame = AirFrame(octets, linkType: linkType) else {
            return PacketSummary(layer: .air, text: "a malformed frame of \(octets.count) octets")
        }
        let text = text(of: frame, isPrimary: linkType != Self.linkType || Self.isPrimary(octets))
        let shown = frame.isCorrupted ? "received with errors: \(text)" : text
        return PacketSummary(layer: .air, text: shown.shortLine(PacketDissector.maximumSummary))
    }

    /// Returns the layers of a frame: its reception, and its content as ``receive(_:)`` named it.
    package static func parts(of octets: PacketBuffer, _ summary: PacketSummary) -> [PacketPart] {
        guard let frame = AirFrame(octets, linkType: AirFrame.withHeader) else {
            return [PacketPart(layer: .air, text: summary.text)]
        }
        let strength = frame.rssi.map { ", \($0) dBm" } ?? ""
        let reception =
            "\(StoryWords.phy(frame.phy)), \(Self.frequency(octets)) MHz\(strength), access address "
            + "0x\(String(frame.accessAddress, radix: 16)), \(StoryWords.count(frame.pdu.count, "octet"))"
        return [PacketPart(layer: .air, text: reception), PacketPart(layer: .air, text: summary.text)]
    }

    /// The centre frequency of the channel, whose number in the pseudo-header counts from 2402 MHz in steps of 2 MHz.
    private static func frequency(_ octets: PacketBuffer) -> Int { 2_402 + 2 * Int(octets[0]) }

    private static func isPrimary(_ octets: PacketBuffer) -> Bool { [0, 12, 39].contains(octets[0]) }

    private mutating func text(of frame: AirFrame, isPrimary: Bool) -> String {
        let payload = frame.payload
        guard frame.accessAddress != AirFrame.advertisingAccessAddress else {
            // A new link may have the access address of an earlier one.
            if frame.pdu[0] & 0x0F == 5, let address = payload.long(at: 12) {
                links.set(AirReception(hasBeginning: true, at: 0), for: address)
            }
            return AirPrinter.describe(advertising: frame.pdu, isPrimary: isPrimary)
        }
        guard !payload.isEmpty else {
            _ = verdict(on: frame)
            return Self.emptyPDU
        }
        let kind = frame.pdu[0] & 0b11
        let name = "\(kind == 0b11 ? "control" : "data") PDU, \(StoryWords.count(payload.count, "octet"))"
        switch verdict(on: frame) {
        case .unreadable(.encrypted), .repeated(.encrypted), .possiblyRepeated(.encrypted): return "Encrypted \(name)"
        case .unreadable, .repeated(.unknown), .possiblyRepeated(.unknown): return "Possibly encrypted \(name)"
        default: return readable(payload, kind: kind, from: frame.side ?? .near)
        }
    }

    private mutating func verdict(on frame: AirFrame) -> AirReception.Content {
        var link = links.removeValue(for: frame.accessAddress) ?? AirReception(hasBeginning: false, at: 0)
        defer { links.set(link, for: frame.accessAddress) }
        guard !frame.isCorrupted else { return link.protection == .plain ? .reserved : .unreadable(link.protection) }
        return link.receive(frame, at: nil).content
    }

    private func readable(_ payload: PacketBuffer, kind: UInt8, from side: StorySide) -> String {
        switch kind {
        case 0b11: return AirPrinter.describe(control: payload)
        case 0b10 where payload.word(at: 0).map(Int.init) == payload.count - 4:
            let top = PacketDissector.top(of: payload, from: side)
            return "Data: \(top?.text ?? PacketDissector.channel(of: payload).text)"
        default: return "Data: a part of a PDU, \(StoryWords.count(payload.count, "octet"))"
        }
    }
}

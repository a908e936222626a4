import AssignedNumbers
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

    /// Receives a frame, in the order of transmission.
    ///
    /// - Parameter linkType: The link type of the capture. Only the usual one tells primary advertising channels.
    package mutating func receive(_ octets: PacketBuffer, linkType: UInt32 = Self.linkType) -> DissectedPacket {
        let frame = AirFrame(octets, linkType: linkType)
        return DissectedPacket(.frame(octets, linkType: linkType, frame.flatMap { content(of: $0) }))
    }

    /// Returns a frame in words.
    ///
    /// - Parameter content: Its place in its link; nil if it belongs to none.
    static func text(of octets: PacketBuffer, linkType: UInt32, _ content: AirReception.Content?) -> String {
        guard let frame = AirFrame(octets, linkType: linkType) else {
            return "a malformed frame of \(octets.count) octets"
        }
        let text =
            content.map { Self.text(of: frame, $0) }
            ?? AirPrinter.describe(
                advertising: frame.pdu,
                isPrimary: linkType != Self.linkType || isPrimary(octets)
            )
        return frame.isCorrupted ? "received with errors: \(text)" : text
    }

    /// Returns the layers of a frame: its reception, and its content as its summary names it.
    package static func parts(of octets: PacketBuffer, _ summary: PacketSummary) -> [PacketPart] {
        guard let frame = AirFrame(octets, linkType: AirFrame.withHeader) else {
            return [PacketPart(layer: .air, text: summary.text, start: 0)]
        }
        let strength = frame.rssi.map { ", \($0) dBm" } ?? ""
        let reception =
            "\(StoryWords.phy(frame.phy)), \(Self.frequency(octets)) MHz\(strength), access address "
            + "0x\(String(frame.accessAddress, radix: 16)), \(StoryWords.count(frame.pdu.count, "octet"))"
        return [PacketPart(layer: .air, text: reception, start: 0)] + content(of: frame, summary)
    }

    private static func content(of frame: AirFrame, _ summary: PacketSummary) -> [PacketPart] {
        let start = frame.position
        guard frame.accessAddress != AirFrame.advertisingAccessAddress else {
            return [
                PacketPart(layer: .air, text: summary.text, start: start, fields: advertising(frame.pdu, at: start))
            ]
        }
        let layers = readable(frame.payload, kind: frame.kind, from: frame.side ?? .near)
        // The content of an encrypted frame has another text.
        guard summary.text == layers[0].text.shortLine(PacketDissector.maximumSummary) else {
            return [PacketPart(layer: .air, text: summary.text, start: start)]
        }
        let places = [start, start + header, start + header + PacketDissector.channelHeader]
        return zip(layers, places).map { $0.part(at: $1) }
    }

    /// The length of the header of a PDU, in octets (Core Vol 6 Part B 2.3, 2.4).
    private static let header = 2

    /// The fields of an advertising PDU; legacy advertising data in words.
    private static func advertising(_ pdu: PacketBuffer, at start: Int) -> [PacketField] {
        guard let packet = AirPrinter.fields(advertising: pdu) else { return [] }
        let fields = FieldList.fields(of: packet, at: start + header)
        guard let data = legacyData(pdu), !data.isEmpty else { return fields }
        return fields.dropLast() + PacketField.structures(of: data, at: start + pdu.count - data.count)
    }

    /// Returns the advertising data of a frame with a legacy PDU; nil for another frame.
    package static func advertisingData(of octets: PacketBuffer) -> PacketBuffer? {
        guard let frame = AirFrame(octets, linkType: AirFrame.withHeader),
            frame.accessAddress == AirFrame.advertisingAccessAddress
        else { return nil }
        return legacyData(frame.pdu)
    }

    /// The data after the address in ADV_IND, ADV_NONCONN_IND, SCAN_RSP and ADV_SCAN_IND (Core Vol 6 Part B 2.3.1).
    private static func legacyData(_ pdu: PacketBuffer) -> PacketBuffer? {
        guard let kind = pdu.first, [0, 2, 4, 6].contains(kind & 0x0F), pdu.count >= header + 6 else { return nil }
        return pdu.suffix(after: header + 6)
    }

    /// Returns the signal strength of a frame in dBm; nil if it has none.
    package static func rssi(of octets: PacketBuffer) -> Int8? {
        AirFrame(octets, linkType: AirFrame.withHeader)?.rssi
    }

    /// The centre frequency of the channel, whose number in the pseudo-header counts from 2402 MHz in steps of 2 MHz.
    private static func frequency(_ octets: PacketBuffer) -> Int { 2_402 + 2 * Int(octets[0]) }

    private static func isPrimary(_ octets: PacketBuffer) -> Bool { [0, 12, 39].contains(octets[0]) }

    private mutating func content(of frame: AirFrame) -> AirReception.Content? {
        guard frame.accessAddress == AirFrame.advertisingAccessAddress else { return verdict(on: frame) }
        // A new link may have the access address of an earlier one.
        if frame.pdu[0] & 0x0F == 5, let address = frame.payload.long(at: 12) {
            links.set(AirReception(hasBeginning: true, at: 0), for: address)
        }
        return nil
    }

    private static func text(of frame: AirFrame, _ content: AirReception.Content) -> String {
        let payload = frame.payload
        guard !payload.isEmpty else { return emptyPDU }
        let name = "\(frame.kind == 0b11 ? "control" : "data") PDU, \(StoryWords.count(payload.count, "octet"))"
        return switch content {
        case .unreadable(.encrypted), .repeated(.encrypted), .possiblyRepeated(.encrypted): "Encrypted \(name)"
        case .unreadable, .repeated(.unknown), .possiblyRepeated(.unknown): "Possibly encrypted \(name)"
        default: readable(payload, kind: frame.kind, from: frame.side ?? .near)[0].text
        }
    }

    private mutating func verdict(on frame: AirFrame) -> AirReception.Content {
        var link = links.removeValue(for: frame.accessAddress) ?? AirReception(hasBeginning: false, at: 0)
        defer { links.set(link, for: frame.accessAddress) }
        guard !frame.isCorrupted else { return link.protection == .plain ? .reserved : .unreadable(link.protection) }
        return link.receive(frame, at: nil).content
    }

    /// The layers of a PDU that is not encrypted.
    private static func readable(_ payload: PacketBuffer, kind: UInt8, from side: StorySide) -> [LayerPDU] {
        switch kind {
        case _ where payload.isEmpty: return [LayerPDU(layer: .air, text: emptyPDU)]
        case 0b11:
            let packet = AirPrinter.fields(control: payload)
            return [
                LayerPDU(layer: .air, text: AirPrinter.describe(control: payload), packet: packet, header: header + 1)
            ]
        case 0b10 where payload.word(at: 0).map(Int.init) == payload.count - PacketDissector.channelHeader:
            let (middle, top) = (PacketDissector.channel(of: payload), PacketDissector.top(of: payload, from: side))
            let whole = LayerPDU(layer: .air, text: "Data: \((top ?? middle).text)")
            return [whole, middle] + (top.map { [$0] } ?? [])
        default:
            let text = "Data: a part of a PDU, \(StoryWords.count(payload.count, "octet"))"
            return [LayerPDU(layer: .air, text: text)]
        }
    }
}

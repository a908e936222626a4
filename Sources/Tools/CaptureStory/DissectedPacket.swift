import BluetoothTypes
import HCI

/// A packet in one line.
package struct PacketSummary: Hashable, Sendable {
    /// The topmost layer that the packet completes a PDU of.
    package var layer: PacketLayer
    package var text: String

    package init(layer: PacketLayer, text: String) { (self.layer, self.text) = (layer, text) }
}

/// A packet with what a dissector knew when it received it, so that its words can be made later, or never.
package struct DissectedPacket: Sendable {
    enum Content: Sendable {
        case controller(HCIPacket)
        /// A part of a PDU that does not end it.
        case part(isStart: Bool, octets: Int)
        /// The PDU that the packet ends, and the attributes of both ends of the link.
        case pdu(PacketBuffer, from: StorySide, PerSide<AttributeBook>)
        /// A frame on the air, and its place in the link; nil if it belongs to none.
        case frame(PacketBuffer, linkType: UInt32, AirReception.Content?)
    }

    private let content: Content

    init(_ content: Content) { self.content = content }

    package var summary: PacketSummary {
        let (layer, text): (PacketLayer, String) =
            switch content {
            case .controller(let packet): (.hci, PacketPrinter.describe(packet))
            case .part(let isStart, let octets):
                (.l2cap, "\(isStart ? "the beginning" : "a part") of a PDU, \(octets) octets")
            case .pdu(let pdu, let side, let books): Self.pdu(pdu, from: side, books)
            case .frame(let octets, let linkType, let content):
                (.air, AirDissector.text(of: octets, linkType: linkType, content))
            }
        return PacketSummary(layer: layer, text: text.shortLine(PacketDissector.maximumSummary))
    }

    private static func pdu(_ pdu: PacketBuffer, from side: StorySide, _ books: PerSide<AttributeBook>)
        -> (PacketLayer, String)
    {
        let top = PacketDissector.top(of: pdu, from: side, books) ?? PacketDissector.channel(of: pdu)
        return (top.layer, top.text)
    }
}

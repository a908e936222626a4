import BluetoothTypes

/// One layer of a packet.
package struct PacketPart: Hashable, Sendable {
    package let layer: PacketLayer
    /// The PDU of the layer with its fields, in words.
    package let text: String
    /// Where the layer begins in the packet, in octets. It extends to the end.
    package let start: Int
    /// The fields that are known, without secrets.
    package var fields: [PacketField] = []
}

/// A PDU of a layer in words, with the description of its fields.
struct LayerPDU {
    let layer: PacketLayer
    var text: String
    /// The fields; nil if the PDU has none, is malformed or has secrets.
    var packet: (any PacketFields)?
    /// The number of octets before the fields.
    var header = 0
    /// The PDU, if its fields named Data are advertising data after their length; otherwise nil.
    var advertising: PacketBuffer?

    /// Returns the layer in a packet that has the whole PDU.
    ///
    /// - Parameter start: Where the PDU begins.
    func part(at start: Int) -> PacketPart {
        var fields = packet.map { FieldList.fields(of: $0, at: start + header) } ?? []
        if let advertising {
            fields = fields.flatMap { Self.advertised($0, in: advertising.suffix(after: $0.start - start)) }
        }
        return PacketPart(layer: layer, text: text, start: start, fields: fields)
    }

    private static func advertised(_ field: PacketField, in octets: PacketBuffer) -> [PacketField] {
        guard field.name == "Data", octets.count >= field.count else { return [field] }
        let (place, depth, length) = (field.start, field.depth, field.count - 1)
        return [PacketField(name: "Data_Length", text: "\(length)", start: place, count: 1, depth: depth)]
            + PacketField.structures(of: octets.slice(1..<field.count), at: place + 1, depth: depth)
    }
}

/// The header of an L2CAP PDU (Core Vol 3 Part A 3.1).
struct ChannelHeader: PacketFields {
    private var (length, channel): (UInt16, UInt16) = (0, 0)

    init() {}

    /// - Parameter pdu: A PDU with its header.
    init(of pdu: PacketBuffer) { (length, channel) = (pdu.word(at: 0) ?? 0, pdu.word(at: 2) ?? 0) }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("PDU Length", &length)
        let count = length
        coder.note("PDU Length", "\(count)")
        try coder.field("Channel ID", &channel)
    }
}

/// The header of an ACL data packet (Core Vol 4 Part E 5.4.2).
struct ACLHeader: PacketFields {
    private var (handle, length): (UInt16, UInt16) = (0, 0)

    init() {}

    /// - Parameter packet: A packet with its header.
    init(of packet: PacketBuffer) { (handle, length) = (packet.word(at: 0) ?? 0, packet.word(at: 2) ?? 0) }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Handle and flags", &handle)
        let (link, flags, count) = (handle & 0xFFF, handle >> 12, length)
        coder.note("Handle and flags", "handle 0x\(String(link, radix: 16)), flags \(flags)")
        try coder.field("Data Total Length", &length)
        coder.note("Data Total Length", "\(count)")
    }
}

import BluetoothTypes

/// A frame of the LE link layer as sniffers write it: LINKTYPE_BLUETOOTH_LE_LL, or the same after a pseudo-header.
struct AirFrame: Sendable {
    static let plain: UInt32 = 251
    static let withHeader: UInt32 = 256
    static let advertisingAccessAddress: UInt32 = 0x8E89_BED6

    /// The length of the pseudo-header, in octets.
    private static let headerSize = 10

    let accessAddress: UInt32
    /// The PDU with its header of two octets, without the CRC.
    let pdu: PacketBuffer
    /// The position of the PDU in the record.
    let position: Int
    let phy: UInt8
    /// The sender, if the sniffer tells it.
    let side: StorySide?
    let rssi: Int8?
    /// Whether the sniffer found the CRC to be wrong.
    let isCorrupted: Bool

    /// Parses a frame; nil if it is too short or of another link type.
    init?(_ octets: PacketBuffer, linkType: UInt32) {
        guard linkType == Self.plain || linkType == Self.withHeader else { return nil }
        var start = 0
        var (phy, kind, isCorrupted): (UInt8, UInt16, Bool) = (1, 0, false)
        var rssi: Int8?
        if linkType == Self.withHeader {
            guard let flags = octets.word(at: 8) else { return nil }
            phy = UInt8(flags >> 14) + 1
            kind = flags >> 7 & 0b111
            isCorrupted = flags & 0x0C00 == 0x0400
            if flags & 2 != 0 { rssi = Int8(bitPattern: octets[1]) }
            start = Self.headerSize
        }
        guard let low = octets.word(at: start), let high = octets.word(at: start + 2) else { return nil }
        accessAddress = UInt32(low) | UInt32(high) << 16
        // The Coded PHY has an octet with the coding.
        position = start + 4 + (phy == 3 ? 1 : 0)
        guard let length = octets.octet(at: position + 1), octets.count >= position + 2 + Int(length) else {
            return nil
        }
        pdu = octets.slice(position..<(position + 2 + Int(length)))
        side = kind == 2 ? .near : kind == 3 ? .far : nil
        (self.phy, self.rssi, self.isCorrupted) = (phy, rssi, isCorrupted)
    }

    /// The payload of the PDU.
    var payload: PacketBuffer { pdu.suffix(after: 2) }
}

/// The fields of an extended advertising PDU that come before its data (Core Vol 6 Part B 2.3.4).
struct AirExtendedHeader: Sendable {
    private(set) var advertiser: BluetoothAddress?
    private(set) var target: BluetoothAddress?
    /// The positions of the two addresses in the payload.
    private(set) var advertiserPosition = 0
    private(set) var targetPosition = 0
    /// The position of the data.
    let dataPosition: Int

    init?(_ payload: PacketBuffer, isRandom: Bool) {
        guard let first = payload.octet(at: 0) else { return nil }
        let length = Int(first & 0x3F)
        guard payload.count >= 1 + length else { return nil }
        dataPosition = 1 + length
        guard length > 0 else { return }
        let flags = payload[1]
        var position = 2
        if flags & 1 == 1 {
            (advertiser, advertiserPosition) = (payload.address(at: position, isRandom: isRandom), position)
            position += 6
        }
        if flags & 2 == 2 { (target, targetPosition) = (payload.address(at: position, isRandom: true), position) }
    }
}

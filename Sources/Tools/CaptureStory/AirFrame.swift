import BluetoothTypes

/// A frame of the LE link layer as sniffers write it: LINKTYPE_BLUETOOTH_LE_LL, the same after a pseudo-header, or
/// after the headers of the nRF Sniffer (LINKTYPE_NORDIC_BLE) or of older programs for Ubertooth (LINKTYPE_PPI).
struct AirFrame: Sendable {
    static let plain: UInt32 = 251
    static let withHeader: UInt32 = 256
    static let nordic: UInt32 = 272
    static let perPacket: UInt32 = 192
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
    /// Whether the sniffer takes the frame for one of an isochronous channel.
    let isIsochronous: Bool

    /// Parses a frame; nil if it is too short or of another link type.
    init?(_ octets: PacketBuffer, linkType: UInt32) {
        let header: Header?
        switch linkType {
        case Self.plain: header = Header()
        case Self.withHeader: header = Header(pseudo: octets)
        case Self.nordic: header = Header(nordic: octets)
        case Self.perPacket: header = Header(perPacket: octets)
        default: header = nil
        }
        guard let header else { return nil }
        (phy, side, rssi, isCorrupted) = (header.phy, header.side, header.rssi, header.isCorrupted)
        isIsochronous = header.isIsochronous
        let start = header.length
        guard let address = octets.long(at: start) else { return nil }
        accessAddress = address
        // The Coded PHY has an octet with the coding.
        position = start + 4 + (phy == 3 ? 1 : 0)
        guard let length = octets.octet(at: position + 1), octets.count >= position + 2 + Int(length) else {
            return nil
        }
        pdu = octets.slice(position..<(position + 2 + Int(length)))
    }

    /// The circumstances that a sniffer tells beside a frame.
    private struct Header {
        var length = 0
        var phy: UInt8 = 1
        var side: StorySide?
        var rssi: Int8?
        var isCorrupted = false
        var isIsochronous = false

        init() {}

        /// Parses the pseudo-header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
        init?(pseudo octets: PacketBuffer) {
            guard let flags = octets.word(at: 8) else { return nil }
            length = AirFrame.headerSize
            phy = UInt8(flags >> 14) + 1
            isCorrupted = flags & 0x0C00 == 0x0400
            let kind = flags >> 7 & 0b111
            side = kind == 2 ? .near : kind == 3 ? .far : nil
            isIsochronous = (4...6).contains(kind)
            if flags & 2 != 0 { rssi = Int8(bitPattern: octets[1]) }
        }

        /// Parses the Per-Packet Information of older programs for Ubertooth (LINKTYPE_PPI): the frame is of
        /// LINKTYPE_BLUETOOTH_LE_LL, or of the first number for users, from before that had a number.
        init?(perPacket octets: PacketBuffer) {
            let user: UInt16 = 147
            guard let size = octets.word(at: 2), let type = octets.word(at: 4), size >= 8, octets.word(at: 6) == 0,
                type == user || UInt32(type) == AirFrame.plain
            else { return nil }
            length = Int(size)
        }

        /// Parses the board, the header of six octets and that of ten octets of the nRF Sniffer. Those of its first
        /// versions have another order, and begin with 0xBEEF.
        init?(nordic octets: PacketBuffer) {
            let isOld = octets.octet(at: 1) == 0xBE && octets.octet(at: 2) == 0xEF
            let start = isOld ? 9 : 8
            guard let flags = octets.octet(at: start), let strength = octets.octet(at: start + 2) else { return nil }
            length = start + 9
            phy = isOld ? 1 : min(flags >> 4 & 0b111, 2) + 1
            isCorrupted = flags & 1 == 0
            side = flags & 2 != 0 ? .near : .far
            rssi = strength == 0 || strength > 128 ? nil : Int8(truncatingIfNeeded: -Int(strength))
        }
    }

    var payload: PacketBuffer { pdu.suffix(after: 2) }
    /// The LLID of a data PDU: 1 and 2 for data, 3 for control (Core Vol 6 Part B 2.4).
    var kind: UInt8 { pdu[0] & 0b11 }
}

/// The fields of an extended advertising PDU that come before its data (Core Vol 6 Part B 2.3.4).
struct AirExtendedHeader: Sendable {
    private(set) var advertiser: BluetoothAddress?
    private(set) var target: BluetoothAddress?
    /// The positions of the two addresses in the payload.
    private(set) var advertiserPosition = 0
    private(set) var targetPosition = 0
    /// The set and the data that the PDU belongs to.
    private(set) var dataInfo: UInt16?
    private(set) var hasMore = false
    /// The access address and the CRC's initial value of a periodic advertising train.
    private(set) var train: (accessAddress: UInt32, initial: UInt32)?
    /// The position of the additional controller advertising data, which end where the data begin.
    private(set) var controllerDataPosition = 0
    let dataPosition: Int

    init?(_ payload: PacketBuffer, isRandom: Bool) {
        guard let first = payload.octet(at: 0) else { return nil }
        let length = Int(first & 0x3F)
        guard payload.count >= 1 + length else { return nil }
        dataPosition = 1 + length
        controllerDataPosition = dataPosition
        guard length > 0 else { return }
        parse(payload.prefix(upTo: dataPosition), isRandom)
    }

    private mutating func parse(_ header: PacketBuffer, _ isRandom: Bool) {
        let flags = header[1]
        var position = 2
        func has(_ bit: UInt8) -> Bool { flags >> bit & 1 == 1 }
        if has(0) {
            (advertiser, advertiserPosition) = (header.address(at: position, isRandom: isRandom), position)
            position += 6
        }
        if has(1) {
            (target, targetPosition) = (header.address(at: position, isRandom: true), position)
            position += 6
        }
        if has(2) { position += 1 }
        if has(3) {
            dataInfo = header.word(at: position)
            position += 2
        }
        if has(4) {
            hasMore = true
            position += 3
        }
        if has(5) {
            train = header.train(at: position)
            position += 18
        }
        if has(6) { position += 1 }
        controllerDataPosition = min(position, dataPosition)
    }
}

extension PacketBuffer {
    /// The access address and the CRC's initial value of a SyncInfo field (Core Vol 6 Part B 2.3.4.6).
    fileprivate func train(at index: Int) -> (accessAddress: UInt32, initial: UInt32)? {
        guard let address = long(at: index + 9), let low = word(at: index + 13), let high = octet(at: index + 15)
        else { return nil }
        return (address, UInt32(low) | UInt32(high) << 16)
    }

    /// The little-endian number of four octets at an index; nil if the buffer ends before.
    package func long(at index: Int) -> UInt32? {
        guard let low = word(at: index), let high = word(at: index + 2) else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }
}

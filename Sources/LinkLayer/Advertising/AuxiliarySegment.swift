import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The PDUs on the secondary channels that belong together: AUX_ADV_IND or AUX_SCAN_RSP, and the AUX_CHAIN_IND behind it
/// (Core Vol 6 Part B 4.4.2.1).
struct AuxiliarySegment {
    /// One PDU.
    struct Part {
        /// How long after the first PDU of the segment it begins, in microseconds.
        var start: Int64
        /// The secondary channel.
        var channel: UInt8
        /// The PDU with its header.
        var pdu: [UInt8]
    }

    /// The PDUs in their order, one at least.
    private(set) var parts: [Part] = []
    /// From the beginning of the first PDU to the end of the last, in microseconds.
    private(set) var duration: Int64 = 0

    /// Spreads data over as few PDUs as can be.
    init(
        mode: ExtendedAdvertisement.Mode,
        header: ExtendedHeader,
        data: PacketBuffer,
        phy: LEPHY,
        isPrecise: Bool,
        channels: inout SecondaryChannels
    ) {
        let pieces = Self.pieces(of: data, behind: header)
        let numbers = pieces.map { _ in channels.next() }
        for (index, piece) in pieces.enumerated() {
            var body = ExtendedAdvertisement(mode: mode, extended: header, data: piece)
            if index > 0 { (body.mode, body.extended) = (.nonConnectable, Self.chained(header)) }
            let hasNext = index + 1 < pieces.count
            // The size does not depend on what the pointer says.
            if hasNext { body.extended.pointer = AuxiliaryPointer() }
            let airTime = phy.radioPHY.airTimeMicroseconds(octets: AdvertisingPDU.extended(body).encoded().count)
            let next = Self.start(behind: airTime)
            if hasNext {
                body.extended.pointer = AuxiliaryPointer(
                    channel: numbers[index + 1],
                    offset: next,
                    phy: phy,
                    isPrecise: isPrecise
                )
            }
            let pdu = AdvertisingPDU.extended(body).encoded()
            parts.append(Part(start: duration, channel: numbers[index], pdu: pdu))
            duration += hasNext ? next : airTime
        }
    }

    /// From the beginning of a PDU of so many microseconds to that of the one that it points to: after T_MAFS, and in
    /// whole units, so that the pointer is exact.
    static func start(behind airTime: Int64) -> Int64 {
        let unit = AuxiliaryPointer.shortUnit
        return (airTime + AuxiliaryPointer.minimumSpace + unit - 1) / unit * unit
    }

    /// The header of AUX_CHAIN_IND: ADI is in it when the PDU before had one (2.3.1.8).
    private static func chained(_ first: ExtendedHeader) -> ExtendedHeader {
        var header = ExtendedHeader()
        header.info = first.info
        return header
    }

    private static func pieces(of data: PacketBuffer, behind first: ExtendedHeader) -> [PacketBuffer] {
        var pieces: [PacketBuffer] = []
        var rest = data
        repeat {
            let header = pieces.isEmpty ? first : chained(first)
            let whole = capacity(behind: header)
            var pointing = header
            pointing.pointer = AuxiliaryPointer()
            let count = rest.count <= whole ? rest.count : capacity(behind: pointing)
            pieces.append(rest.prefix(upTo: count))
            rest = rest.suffix(after: count)
        } while !rest.isEmpty
        return pieces
    }

    /// Octets of data that fit behind a header.
    static func capacity(behind header: ExtendedHeader) -> Int {
        ExtendedAdvertisement.maximumPayload - 1 - header.size
    }
}

/// Which secondary channels an advertiser uses: a pseudo-random choice among those that the host allows, made as channel
/// selection algorithm #2 does it (Core Vol 6 Part B 4.4.2.1 leaves it to the advertiser).
struct SecondaryChannels {
    private let selection: ChannelSelection2
    private var counter: UInt16 = 0
    /// The channels that the host allows.
    var map = ChannelMap.all

    init(identifier: UInt32) {
        selection = ChannelSelection2(accessAddress: identifier)
    }

    mutating func next() -> UInt8 {
        counter &+= 1
        return selection.channel(counter: counter, map: map)
    }
}

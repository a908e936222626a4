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
    ///
    /// - Parameter place: when a PDU that could begin so many microseconds after the first, and takes so many, does begin.
    init(
        mode: ExtendedAdvertisement.Mode,
        header: ExtendedHeader,
        data: PacketBuffer,
        phy: LEPHY,
        isPrecise: Bool,
        channels: inout SecondaryChannels,
        place: (_ start: Int64, _ airTime: Int64) -> Int64 = { start, _ in start }
    ) {
        var bodies = Self.bodies(of: data, behind: header, mode: mode)
        let airTimes = bodies.map {
            phy.radioPHY.airTimeMicroseconds(octets: AdvertisingPDU.extended($0).encoded().count)
        }
        var start: Int64 = 0
        var channel = channels.next()
        for index in bodies.indices {
            let own = (start, channel)
            if index + 1 < bodies.count {
                let earliest = airTimes[index] + AuxiliaryPointer.minimumSpace
                let offset = Self.rounded(place(start + earliest, airTimes[index + 1]) - start)
                channel = channels.next()
                start += offset
                bodies[index].extended.pointer = AuxiliaryPointer(
                    channel: channel,
                    offset: offset,
                    phy: phy,
                    isPrecise: isPrecise
                )
            }
            parts.append(Part(start: own.0, channel: own.1, pdu: AdvertisingPDU.extended(bodies[index]).encoded()))
        }
        duration = start + (airTimes.last ?? 0)
    }

    /// From the beginning of a PDU of so many microseconds to that of the one that it points to, at the earliest.
    static func start(behind airTime: Int64) -> Int64 {
        rounded(airTime + AuxiliaryPointer.minimumSpace)
    }

    /// An offset in whole units, so that the pointer is exact.
    static func rounded(_ offset: Int64) -> Int64 {
        let isLong = offset >= AuxiliaryPointer.longOffset
        let unit = isLong ? AuxiliaryPointer.longUnit : AuxiliaryPointer.shortUnit
        return (offset + unit - 1) / unit * unit
    }

    /// The PDUs with pointers that say nothing yet.
    private static func bodies(
        of data: PacketBuffer,
        behind first: ExtendedHeader,
        mode: ExtendedAdvertisement.Mode
    ) -> [ExtendedAdvertisement] {
        let pieces = pieces(of: data, behind: first)
        return pieces.enumerated().map { index, piece in
            var body = ExtendedAdvertisement(mode: mode, extended: first, data: piece)
            if index > 0 { (body.mode, body.extended) = (.nonConnectable, chained(first)) }
            if index + 1 < pieces.count { body.extended.pointer = AuxiliaryPointer() }
            return body
        }
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

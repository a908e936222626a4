import BluetoothTypes
import EventLoops
import HCI

/// A sequence of PDUs on the secondary channels: AUX_ADV_IND or AUX_SCAN_RSP, followed by the AUX_CHAIN_IND PDUs
/// chained to it (Core Vol 6 Part B 4.4.2.1).
struct AuxiliarySegment {
    struct Part {
        /// The start of the PDU after that of the first PDU, in microseconds.
        var start: Int64
        /// The secondary channel index.
        var channel: UInt8
        /// The PDU including its header.
        var pdu: [UInt8]
    }

    /// The PDUs in order; at least one.
    private(set) var parts: [Part] = []
    /// The time from the start of the first PDU to the end of the last, in microseconds.
    private(set) var duration: Int64 = 0

    /// Distributes data over as few PDUs as possible.
    ///
    /// - Parameter place: Returns when a PDU starts that could start `start` microseconds after the first one, and that
    ///   lasts `airTime`.
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

    /// Returns the earliest start of a PDU after that of the PDU pointing to it, which lasts `airTime`, in
    /// microseconds.
    static func start(behind airTime: Int64) -> Int64 {
        rounded(airTime + AuxiliaryPointer.minimumSpace)
    }

    /// Rounds an offset up to whole units, so that the pointer is exact.
    static func rounded(_ offset: Int64) -> Int64 {
        let isLong = offset >= AuxiliaryPointer.longOffset
        let unit = isLong ? AuxiliaryPointer.longUnit : AuxiliaryPointer.shortUnit
        return (offset + unit - 1) / unit * unit
    }

    /// Returns the PDUs with placeholders for their pointers.
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

    /// Returns the header of AUX_CHAIN_IND. It has an ADI if the preceding PDU has one (2.3.1.8).
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

    /// Returns the number of data octets that fit after a header.
    static func capacity(behind header: ExtendedHeader) -> Int {
        ExtendedAdvertisement.maximumPayload - 1 - header.size
    }
}

/// The choice of secondary channels: pseudo-random among those that the host allows, by the hash of channel selection
/// algorithm #2 (Core Vol 6 Part B 4.4.2.1 leaves the choice to the advertiser).
struct SecondaryChannels {
    private let selection: ChannelSelection2
    private var counter: UInt16 = 0
    /// The channels that the host allows.
    private(set) var map = ChannelMap.all

    init(identifier: UInt32) {
        selection = ChannelSelection2(accessAddress: identifier)
    }

    /// Restricts the PDUs from now on to the channels of a map.
    mutating func restrict(to map: ChannelMap) {
        self.map = map
    }

    mutating func next() -> UInt8 {
        counter &+= 1
        return selection.channel(counter: counter, map: map)
    }
}

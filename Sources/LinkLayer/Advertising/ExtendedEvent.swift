import BluetoothTypes
import EventLoops
import HCI
import Radio

/// One extended advertising event (Core Vol 6 Part B 4.4.2.2): ADV_EXT_IND on the primary channels, then what they point
/// to.
struct ExtendedEvent {
    /// A PDU that is to be sent.
    struct Step {
        /// How long after the beginning it is sent, in microseconds.
        var start: Int64
        var frame: RadioFrame
    }

    /// All PDUs in their order.
    private(set) var steps: [Step] = []
    /// Which of them is AUX_ADV_IND.
    private(set) var auxiliary = 0

    init(_ set: AdvertisingSet, isPrecise: Bool, channels: inout SecondaryChannels) {
        let segment = set.segment(isPrecise: isPrecise, channels: &channels)
        let primary = set.channels
        let phy = set.parameters.primaryPHY.radioPHY
        let airTime = phy.airTimeMicroseconds(octets: Self.primarySize)
        let begin = Self.segmentStart(primary.count, airTime)
        for (index, channel) in primary.enumerated() {
            let start = Int64(index) * Self.spacing(airTime)
            var header = ExtendedHeader()
            header.info = set.info
            header.pointer = AuxiliaryPointer(
                channel: segment.parts[0].channel,
                offset: begin - start,
                phy: set.parameters.secondaryPHY,
                isPrecise: isPrecise
            )
            let pdu = AdvertisingPDU.extended(.init(mode: set.mode, extended: header)).encoded()
            steps.append(Step(start: start, frame: .advertising(pdu, channel: channel, phy: phy)))
        }
        auxiliary = steps.count
        add(segment, at: begin, phy: set.parameters.secondaryPHY.radioPHY)
    }

    /// AUX_SCAN_RSP and what is chained to it.
    init(response set: AdvertisingSet, channel: UInt8, isPrecise: Bool, channels: inout SecondaryChannels) {
        let segment = set.responseSegment(isPrecise: isPrecise, channels: &channels)
        add(segment, at: 0, phy: set.parameters.secondaryPHY.radioPHY)
        // It is sent where the request was.
        steps[0].frame.channel = channel
    }

    private mutating func add(_ segment: AuxiliarySegment, at begin: Int64, phy: RadioPHY) {
        for part in segment.parts {
            let frame = RadioFrame.advertising(part.pdu, channel: part.channel, phy: phy)
            steps.append(Step(start: begin + part.start, frame: frame))
        }
    }

    // MARK: Time

    /// ADV_EXT_IND with ADI and AuxPtr.
    static let primarySize = 2 + 1 + 1 + 2 + 3

    /// From the beginning of one ADV_EXT_IND to that of the next, in microseconds; whole units of AuxPtr, so that each
    /// pointer is exact.
    static func spacing(_ airTime: Int64) -> Int64 {
        let unit = AuxiliaryPointer.shortUnit
        return (airTime + Advertiser.channelSwitch + unit - 1) / unit * unit
    }

    /// From the beginning of the event to AUX_ADV_IND, in microseconds.
    static func segmentStart(_ channels: Int, _ airTime: Int64) -> Int64 {
        Int64(channels - 1) * spacing(airTime) + AuxiliarySegment.start(behind: airTime)
    }
}

extension AdvertisingSet {
    /// AdvMode.
    var mode: ExtendedAdvertisement.Mode {
        isConnectable ? .connectable : isScannable ? .scannable : .nonConnectable
    }

    /// The extended header of AUX_ADV_IND.
    var auxiliaryHeader: ExtendedHeader {
        var header = ExtendedHeader()
        if !isAnonymous { header.advertiser = ownAddress }
        if isDirected { header.target = target }
        header.info = info
        if parameters.properties.contains(.includeTxPower) { header.txPower = txPower }
        return header
    }

    /// AUX_ADV_IND and what is chained to it.
    func segment(isPrecise: Bool, channels: inout SecondaryChannels) -> AuxiliarySegment {
        AuxiliarySegment(
            mode: mode,
            header: auxiliaryHeader,
            data: data.bytes,
            phy: parameters.secondaryPHY,
            isPrecise: isPrecise,
            channels: &channels
        )
    }

    /// AUX_SCAN_RSP and what is chained to it.
    func responseSegment(isPrecise: Bool, channels: inout SecondaryChannels) -> AuxiliarySegment {
        var header = ExtendedHeader()
        header.advertiser = ownAddress
        header.info = info
        return AuxiliarySegment(
            mode: .nonConnectable,
            header: header,
            data: scanResponse.bytes,
            phy: parameters.secondaryPHY,
            isPrecise: isPrecise,
            channels: &channels
        )
    }

    /// How long an event takes at most, in microseconds: with the request and the answer to it.
    var eventTime: Int64 {
        var channels = SecondaryChannels(identifier: 0)
        let airTime = parameters.primaryPHY.radioPHY.airTimeMicroseconds(octets: ExtendedEvent.primarySize)
        let begin = ExtendedEvent.segmentStart(self.channels.count, airTime)
        let segment = segment(isPrecise: true, channels: &channels).duration
        return begin + segment + answerTime
    }

    /// How long a request behind AUX_ADV_IND and the answer to it take at most, in microseconds.
    var answerTime: Int64 {
        let phy = parameters.secondaryPHY.radioPHY
        if isConnectable {
            return phy.airTimeMicroseconds(octets: 2 + 34) + phy.airTimeMicroseconds(octets: 2 + 14)
                + 2 * LinkTiming.interFrameSpace
        }
        guard isScannable else { return 0 }
        var channels = SecondaryChannels(identifier: 0)
        return phy.airTimeMicroseconds(octets: 2 + 12) + 2 * LinkTiming.interFrameSpace
            + responseSegment(isPrecise: true, channels: &channels).duration
    }
}

extension RadioFrame {
    /// A PDU on an advertising channel.
    static func advertising(_ pdu: [UInt8], channel: UInt8, phy: RadioPHY) -> RadioFrame {
        RadioFrame(
            channel: channel,
            accessAddress: AdvertisingPDU.accessAddress,
            crcInit: AdvertisingPDU.crcInit,
            phy: phy,
            pdu: pdu
        )
    }
}

extension RadioTuning {
    /// A receiver for PDUs on an advertising channel.
    static func advertising(channel: UInt8, phy: LEPHY) -> RadioTuning {
        RadioTuning(
            channel: channel,
            accessAddress: AdvertisingPDU.accessAddress,
            crcInit: AdvertisingPDU.crcInit,
            modulation: phy.radioPHY.modulation
        )
    }
}

import BluetoothTypes
import EventLoops
import HCI

/// The plan of an extended advertising event (Core Vol 6 Part B 4.4.2.2): ADV_EXT_IND on the primary channels, followed
/// by the PDUs they point to.
struct ExtendedEvent {
    /// A PDU to send.
    struct Step {
        /// The start after the beginning of the event, in microseconds.
        var start: Int64
        var frame: RadioFrame
    }

    private(set) var steps: [Step] = []
    /// The index of AUX_ADV_IND in ``steps``.
    private(set) var auxiliary = 0

    /// Returns when a PDU is sent that could be sent `start` microseconds after the beginning, and that lasts
    /// `airTime`.
    typealias Placement = (_ start: Int64, _ airTime: Int64) -> Int64

    init(_ set: AdvertisingSet, isPrecise: Bool, channels: inout SecondaryChannels, place: Placement) {
        let primary = set.channels
        let phy = set.parameters.primaryPHY.radioPHY
        let airTime = phy.airTimeMicroseconds(octets: Self.primarySize)
        let begin = Self.segmentStart(primary.count, airTime)
        let segment = set.segment(isPrecise: isPrecise, channels: &channels) { place(begin + $0, $1) - begin }
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

    /// Creates the plan of an AUX_SCAN_RSP and the PDUs chained to it.
    init(
        response set: AdvertisingSet,
        channel: UInt8,
        isPrecise: Bool,
        channels: inout SecondaryChannels,
        place: Placement
    ) {
        let segment = set.segment(isResponse: true, isPrecise: isPrecise, channels: &channels, place: place)
        add(segment, at: 0, phy: set.parameters.secondaryPHY.radioPHY)
        // The response is sent on the channel of the request.
        steps[0].frame.channel = channel
    }

    private mutating func add(_ segment: AuxiliarySegment, at begin: Int64, phy: RadioPHY) {
        for part in segment.parts {
            let frame = RadioFrame.advertising(part.pdu, channel: part.channel, phy: phy)
            steps.append(Step(start: begin + part.start, frame: frame))
        }
    }

    // MARK: Timing

    /// The length of ADV_EXT_IND with ADI and AuxPtr.
    static let primarySize = 2 + 1 + 1 + 2 + 3

    /// Returns the time from the start of one ADV_EXT_IND to the next, in microseconds. It is a multiple of AuxPtr's
    /// unit, so that each pointer is exact.
    static func spacing(_ airTime: Int64) -> Int64 {
        let unit = AuxiliaryPointer.shortUnit
        return (airTime + Advertiser.channelSwitch + unit - 1) / unit * unit
    }

    /// Returns the time from the start of the event to AUX_ADV_IND, in microseconds.
    static func segmentStart(of set: AdvertisingSet) -> Int64 {
        let airTime = set.parameters.primaryPHY.radioPHY.airTimeMicroseconds(octets: primarySize)
        return segmentStart(set.channels.count, airTime)
    }

    fileprivate static func segmentStart(_ channels: Int, _ airTime: Int64) -> Int64 {
        Int64(channels - 1) * spacing(airTime) + AuxiliarySegment.start(behind: airTime)
    }
}

extension AdvertisingSet {
    /// The AdvMode field, from the properties of the set.
    var mode: ExtendedAdvertisement.Mode {
        isConnectable ? .connectable : isScannable ? .scannable : .nonConnectable
    }

    /// The extended header of AUX_ADV_IND.
    var auxiliaryHeader: ExtendedHeader {
        var header = ExtendedHeader()
        if !isAnonymous { header.advertiser = air.own }
        if isDirected { header.target = airTarget }
        header.info = info
        if canBePeriodic, let announcement, let sync = announcement.sync {
            header.sync = sync
            header.controllerData = announcement.responses?.controllerData ?? []
        }
        if parameters.properties.contains(.includeTxPower) { header.txPower = txPower }
        return header
    }

    /// Returns AUX_ADV_IND, or AUX_SCAN_RSP for a response, and the PDUs chained to it.
    func segment(
        isResponse: Bool = false,
        isPrecise: Bool,
        channels: inout SecondaryChannels,
        place: ExtendedEvent.Placement = { start, _ in start }
    ) -> AuxiliarySegment {
        AuxiliarySegment(
            mode: isResponse ? .nonConnectable : mode,
            header: isResponse ? responseHeader : auxiliaryHeader,
            data: isResponse ? scanResponse.bytes : data.bytes,
            phy: parameters.secondaryPHY,
            isPrecise: isPrecise,
            channels: &channels,
            place: place
        )
    }

    /// The duration of an event without gaps between its PDUs, including a request and its response, in microseconds.
    var eventTime: Int64 {
        var channels = SecondaryChannels(identifier: 0)
        let airTime = parameters.primaryPHY.radioPHY.airTimeMicroseconds(octets: ExtendedEvent.primarySize)
        let begin = ExtendedEvent.segmentStart(self.channels.count, airTime)
        let answer = isScannable ? segment(isResponse: true, isPrecise: true, channels: &channels).duration : 0
        return begin + segment(isPrecise: true, channels: &channels).duration + requestTime + answer
    }

    /// The time from the end of AUX_ADV_IND until a request has been answered with one PDU, in microseconds.
    var answerTime: Int64 {
        guard isConnectable || isScannable else { return 0 }
        // AUX_CONNECT_RSP, or AUX_SCAN_RSP with the maximum of data.
        let size = 1 + responseHeader.size + scanResponse.bytes.count
        let answer = isConnectable ? 14 : min(size, ExtendedAdvertisement.maximumPayload)
        return requestTime + parameters.secondaryPHY.radioPHY.airTimeMicroseconds(octets: 2 + answer)
    }

    /// The duration of AUX_CONNECT_REQ or AUX_SCAN_REQ including the spaces around it.
    private var requestTime: Int64 {
        guard isConnectable || isScannable else { return 0 }
        let octets = isConnectable ? 2 + 34 : 2 + 12
        return parameters.secondaryPHY.radioPHY.airTimeMicroseconds(octets: octets) + 2 * LinkTiming.interFrameSpace
    }

    /// The extended header of AUX_SCAN_RSP.
    private var responseHeader: ExtendedHeader {
        var header = ExtendedHeader()
        header.advertiser = air.own
        header.info = info
        return header
    }
}

extension RadioFrame {
    /// Creates the frame of a PDU on an advertising channel.
    static func advertising(_ pdu: [UInt8], channel: UInt8, phy: RadioPHY) -> RadioFrame {
        RadioFrame(
            channel: channel,
            accessAddress: AccessAddress.advertising,
            crcInit: AdvertisingPDU.crcInit,
            phy: phy,
            pdu: pdu
        )
    }
}

extension RadioTuning {
    /// Creates the settings of a receiver for PDUs on an advertising channel.
    static func advertising(channel: UInt8, phy: LEPHY) -> RadioTuning {
        RadioTuning(
            channel: channel,
            accessAddress: AccessAddress.advertising,
            crcInit: AdvertisingPDU.crcInit,
            modulation: phy.radioPHY.modulation
        )
    }
}

import BluetoothTypes
import EventLoops
import HCI

/// The services that an initiator needs from its controller, and its callbacks.
protocol InitiatorOwner: AnyObject {
    var privacy: LinkPrivacy { get }
    /// Whether the controller supports channel selection algorithm #2.
    var knowsAlgorithm2: Bool { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Returns the parameters of a new link to a device; nil if it is not allowed. `start` holds when the request will
    /// have been sent.
    func initiator(
        _ initiator: Initiator,
        prepares advertiser: ResolvedDevice,
        parameters: PHYConnectionParameters,
        start: LinkStart
    ) -> ConnectionData?
    /// Whether a CONNECT_IND, which is not acknowledged, is to be lost on purpose.
    func initiatorLosesRequest(_ initiator: Initiator) -> Bool
    /// Called when the request has been sent, and initiating has ended.
    func initiator(
        _ initiator: Initiator,
        requested request: ConnectIndication,
        to advertiser: ResolvedDevice,
        usesAlgorithm2: Bool,
        start: LinkStart
    )
    /// Called with an advertisement that is of no use for initiating.
    func initiator(_ initiator: Initiator, overheard pdu: AdvertisingPDU, _ frame: ReceivedFrame, on phy: LEPHY)
    /// Called with an AUX_ADV_IND that is of no use for initiating.
    func initiator(
        _ initiator: Initiator,
        overheard pdu: ExtendedAdvertisement,
        _ frame: ReceivedFrame,
        on trail: AuxiliaryTrail
    )
}

/// Listens for a device's advertisements and connects to it (Core Vol 6 Part B 4.4.4).
final class Initiator: PrimaryListener {
    /// A request that is on its way, or awaits its response.
    private struct Request {
        var pdu: ConnectIndication
        var advertiser: ResolvedDevice
        var usesAlgorithm2: Bool
        var start: LinkStart
    }

    /// The host's command. Legacy commands are represented with parameters for 1M only.
    private(set) var command = LEExtendedCreateConnection()
    /// Whether the host used an extended command.
    private(set) var isExtended = false
    /// The own address on the air.
    private(set) var own = OwnAddressParameters()

    private var request: Request?
    private unowned let owner: any InitiatorOwner

    init(
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        power: Double,
        accuracy: ClockAccuracy,
        owner: any InitiatorOwner
    ) {
        self.owner = owner
        super.init(arbiter: arbiter, loop: loop, random: random, power: power, accuracy: accuracy)
    }

    /// Whether a request is on its way, so that it is too late to cancel.
    var isCommitted: Bool { request != nil }

    override var windowPriority: RadioPriority { .initiating }

    /// Starts to listen for the named device, or for those on the accept list.
    func start(_ command: LEExtendedCreateConnection, isExtended: Bool, as own: OwnAddressParameters) {
        self.command = command
        self.isExtended = isExtended
        self.own = own
        request = nil
        let le1M = command.le1M.map { ScanWindows(interval: $0.scanInterval, window: $0.scanWindow) }
        let coded = command.coded.map {
            ScanWindows(phy: .coded, interval: $0.scanInterval, window: $0.scanWindow)
        }
        begin(ScanWindows.inTurn(le1M, coded))
    }

    func stop() {
        request = nil
        end()
    }

    // MARK: Advertisements

    override func receive(_ frame: ReceivedFrame) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else { return }
        let phy = frame.advertisingPHY
        if isExtended, case .extended(let body) = pdu, body.mode == .connectable,
            body.extended.advertiser.map({ wanted($0) != nil }) ?? true,
            let trail = AuxiliaryTrail(body, frame, primaryPHY: phy)
        {
            follow(trail)
        } else if let found = connectable(pdu),
            connect(found.device, .advertising(channel: frame.frame.channel), found.knowsAlgorithm2)
        {
            return
        }
        owner.initiator(self, overheard: pdu, frame, on: phy)
    }

    override func receive(_ frame: ReceivedFrame, on trail: AuxiliaryTrail) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)),
            case .extended(let body) = pdu
        else { return }
        var whole = trail
        if whole.append(body, frame), let advertiser = body.extended.advertiser, let device = wanted(advertiser),
            body.extended.target.map({ isForUs($0, from: device) }) ?? true,
            connect(device, .auxiliary(channel: frame.frame.channel, trail), true)
        {
            return
        }
        owner.initiator(self, overheard: body, frame, on: trail)
    }

    private func connectable(_ pdu: AdvertisingPDU) -> (device: ResolvedDevice, knowsAlgorithm2: Bool)? {
        switch pdu {
        case .connectableScannable(let body):
            return wanted(body.advertiser).map { ($0, body.knowsAlgorithm2) }
        case .directed(let body):
            guard let device = wanted(body.advertiser), isForUs(body.target, from: device) else { return nil }
            return (device, body.knowsAlgorithm2)
        default:
            return nil
        }
    }

    /// Returns the device behind an advertiser's address, if the host wants to connect to it.
    private func wanted(_ advertiser: BluetoothAddress) -> ResolvedDevice? {
        guard let device = owner.privacy.device(advertiser) else { return nil }
        if command.filterPolicy == .acceptList { return owner.isAccepted(device.identity) ? device : nil }
        let named = command.peerAddress
        // An identity address stands for the device's private addresses only (Core Vol 4 Part E 7.8.12).
        if named.kind.isIdentity { return device.identity == named ? device : nil }
        return device.identity.device == named || advertiser == named ? device : nil
    }

    /// Whether directed advertising is directed at this device.
    private func isForUs(_ target: BluetoothAddress, from advertiser: ResolvedDevice) -> Bool {
        owner.privacy.mayAnswer(target, own, from: advertiser)
    }

    // MARK: Requests

    /// The channel of a request.
    private enum Place {
        case advertising(channel: UInt8)
        case auxiliary(channel: UInt8, AuxiliaryTrail)
    }

    /// Sends a connection request if a link is allowed and there is time for it.
    private func connect(_ advertiser: ResolvedDevice, _ place: Place, _ knowsAlgorithm2: Bool) -> Bool {
        let start: LinkStart
        let channel: UInt8
        var primary = LEPHY.le1M
        switch place {
        case .advertising(let number):
            channel = number
            start = LinkStart(end: loop.now)
        case .auxiliary(let number, let trail):
            channel = number
            primary = trail.primaryPHY
            start = LinkStart(end: loop.now, phy: trail.secondaryPHY, isAuxiliary: true)
        }
        let needed = start.phy.radioPHY.airTimeMicroseconds(octets: 2 + 34)
        let answer = LinkTiming.interFrameSpace + start.phy.radioPHY.airTimeMicroseconds(octets: 2 + 14)
        guard hasTime(needed + (start.isAuxiliary ? answer : 0)) else { return false }
        var later = start
        later.end = loop.now + .microseconds(LinkTiming.interFrameSpace + needed)
        guard let parameters = parameters(start.phy, primary: primary),
            let address = owner.privacy.address(own, towards: advertiser),
            let data = owner.initiator(self, prepares: advertiser, parameters: parameters, start: later)
        else { return false }
        let pdu = ConnectIndication(
            initiator: address,
            advertiser: advertiser.address,
            link: data,
            // The bit is reserved in AUX_CONNECT_REQ (2.3.3.1).
            knowsAlgorithm2: !start.isAuxiliary && owner.knowsAlgorithm2
        )
        request = Request(pdu: pdu, advertiser: advertiser, usesAlgorithm2: knowsAlgorithm2, start: later)
        var sent = pdu
        if !start.isAuxiliary, owner.initiatorLosesRequest(self) { sent.advertiser = pdu.initiator }
        self.answer(.connect(sent), on: channel, phy: start.phy)
        return true
    }

    /// Returns the parameters for a link on a PHY; those of the primary PHY if the host has given none.
    private func parameters(_ phy: LEPHY, primary: LEPHY) -> PHYConnectionParameters? {
        let own = phy == .coded ? command.coded : phy == .le2M ? command.le2M : command.le1M
        return own ?? (primary == .coded ? command.coded : command.le1M)
    }

    override func hasAnswered() -> Bool {
        guard let request else { return false }
        if request.start.isAuxiliary { return true }
        finish(request)
        return false
    }

    override func receiveReply(_ frame: ReceivedFrame) {
        // Without AUX_CONNECT_RSP no link is made (4.4.4.2).
        guard let request, !frame.isCorrupted,
            let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)),
            case .connectResponse(let body) = pdu, body.extended.advertiser == request.pdu.advertiser,
            body.extended.target == request.pdu.initiator
        else { return noReply() }
        finish(request)
    }

    override func noReply() {
        request = nil
    }

    private func finish(_ request: Request) {
        stop()
        owner.initiator(
            self,
            requested: request.pdu,
            to: request.advertiser,
            usesAlgorithm2: request.usesAlgorithm2,
            start: request.start
        )
    }
}

/// Chooses the anchor points of a central's new links, so that its links do not need the radio at the same time.
enum AnchorPlacement {
    /// The desired distance between anchor points, in microseconds: enough for two PDUs of 251 octets on 1M.
    static let distance: Int64 = 5_000

    /// Returns the transmit window offset for a new link.
    ///
    /// - Parameters:
    ///   - first: When the transmit window would start with an offset of 0.
    ///   - interval: The interval of the new link, in units of 1.25 ms.
    ///   - others: An anchor point and the interval of each existing link.
    /// - Returns: The first offset far enough from all other links, or the one farthest from them, in units of 1.25 ms.
    static func offset(first: Instant, interval: UInt16, others: [(anchor: Instant, interval: UInt16)]) -> UInt16 {
        var best: (offset: UInt16, distance: Int64) = (0, -1)
        for offset in 0..<max(interval, 1) {
            let place = first.microseconds + Int64(offset) * LinkTiming.unit
            var nearest = Int64.max
            for other in others {
                let period = Int64(commonDivisor(interval, other.interval)) * LinkTiming.unit
                let remainder = (place - other.anchor.microseconds) % period
                let ahead = remainder < 0 ? remainder + period : remainder
                nearest = min(nearest, ahead, period - ahead)
            }
            if nearest >= distance { return offset }
            if nearest > best.distance { best = (offset, nearest) }
        }
        return best.offset
    }

    private static func commonDivisor(_ a: UInt16, _ b: UInt16) -> UInt16 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}

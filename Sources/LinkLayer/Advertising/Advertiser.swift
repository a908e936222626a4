import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Radio

/// What an advertiser asks of its controller.
protocol AdvertiserOwner: AnyObject {
    /// What is known of addresses.
    var privacy: LinkPrivacy { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Whether there can be the link that somebody asks for.
    func advertiser(_ advertiser: Advertiser, canAccept request: ConnectIndication) -> Bool
    /// Somebody connects with a request that ended at `end` and was acceptable.
    func advertiser(_ advertiser: Advertiser, accepts request: ConnectIndication, at end: Instant)
    /// Somebody has asked for the scan response.
    func advertiser(_ advertiser: Advertiser, wasAskedBy scanner: BluetoothAddress)
    /// The set has another private address.
    func advertiserChangedAddress(_ advertiser: Advertiser)
    /// Advertising has come to the end that was set for it.
    func advertiser(_ advertiser: Advertiser, ended end: Advertiser.End)
}

/// Advertising of one set (Core Vol 6 Part B 4.4.2): an event every so often. In legacy ones there is on each channel one
/// PDU with its answers; the extended ones are in an extension.
final class Advertiser: RadioUser {
    /// High duty cycle directed advertising ends after so long (4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1_280)
    /// advDelay is less than this many microseconds (4.4.2.2.1).
    static let maximumDelay: UInt64 = 10_000
    /// How late an answer may begin after an inter frame space, in microseconds.
    static let responseMargin: Int64 = 4
    /// From the end of the listening on one channel to the PDU on the next, in microseconds.
    static let channelSwitch: Int64 = 150

    /// Why advertising has ended by itself.
    enum End {
        /// The time is over.
        case timeout
        /// There have been as many events as the host wanted.
        case limitReached
    }

    enum State {
        case off
        /// The next event is due at the timer.
        case idle
        /// An event is due, but the radio is not free.
        case awaitsRadio
        case sending(channel: Int)
        case listening(channel: Int)
        /// A SCAN_RSP is about to be sent, or is being sent.
        case responding(channel: Int)
        /// The next channel follows at the timer.
        case switching(channel: Int)
        /// An extended event.
        case extended(ExtendedStage)
    }

    var priority: RadioPriority { .advertising }
    let share: RadioShare
    /// What is advertised. The data may change at any time.
    var set: AdvertisingSet {
        didSet { interval = nil }
    }
    /// The periodic advertising of the set, once the host has said how.
    var train: PeriodicAdvertiser?
    /// The channels of the auxiliary PDUs.
    var secondary: SecondaryChannels
    private(set) var isEnabled = false
    /// Events since advertising began.
    private(set) var completedEvents: UInt8 = 0

    var state = State.off
    var timer: ScheduledTask?
    /// The extended event that is going on, and when it began.
    var event: (plan: ExtendedEvent, begin: Instant)?
    private var limit: ScheduledTask?
    private var maximumEvents: UInt8 = 0
    /// What ``pace`` is for the set as it is.
    private var interval: Duration?
    private(set) var eventStart = Instant.zero
    // The private addresses of the set, as far as it has any.
    private var ownPrivate: RotatingAddress?
    private var targetPrivate: RotatingAddress?
    private var pdu: [UInt8] = []
    private var channels: [UInt8] = []
    let arbiter: RadioArbiter
    let loop: any EventLoop
    /// Whether the clock is good for 50 parts in a million.
    let isPrecise: Bool
    private let random: RandomSource
    unowned let owner: any AdvertiserOwner

    init(
        _ set: AdvertisingSet,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        isPrecise: Bool,
        owner: any AdvertiserOwner
    ) {
        self.set = set
        self.arbiter = arbiter
        share = arbiter.share(of: .advertising(set: set.handle))
        self.loop = loop
        self.random = random
        self.isPrecise = isPrecise
        self.owner = owner
        secondary = SecondaryChannels(identifier: UInt32(truncatingIfNeeded: random.next() >> 32))
    }

    /// From the beginning of one event to that of the next, without the random delay.
    var pace: Duration {
        let pace = interval ?? set.interval
        interval = pace
        return pace
    }

    /// The power of every PDU, in dBm.
    var power: Double { Double(set.txPower) }

    /// Fixes what the set has on the air.
    ///
    /// - Parameters:
    ///   - address: the own address when there is no key for a private one.
    ///   - ownKey: what private addresses of the set are made with.
    ///   - targetKey: what those of the device are made with that the set is for.
    func setAddresses(_ address: BluetoothAddress?, ownKey: Key128?, targetKey: Key128?) {
        let rules = owner.privacy.rules
        ownPrivate = ownKey.map { RotatingAddress($0, rules) }
        targetPrivate = targetKey.map { RotatingAddress($0, rules) }
        set.ownAddress = address ?? .none
        set.isPrivate = ownPrivate != nil
        set.privateTarget = nil
        showPrivateAddresses()
    }

    /// Another private address is used from the next event on, before the time of this one is over.
    func replaceAddress() {
        ownPrivate?.renew(owner.privacy.rules)
    }

    /// Private addresses change between two events, so that an answer finds the address that was advertised.
    private func rotateAddresses() {
        guard ownPrivate != nil || targetPrivate != nil else { return }
        let rules = owner.privacy.rules
        let own = ownPrivate?.current(rules)
        let target = targetPrivate?.current(rules)
        if own ?? set.ownAddress != set.ownAddress || target != set.privateTarget { showPrivateAddresses() }
    }

    private func showPrivateAddresses() {
        if let ownPrivate { set.ownAddress = ownPrivate.address }
        set.privateTarget = targetPrivate?.address
        if ownPrivate != nil { owner.advertiserChangedAddress(self) }
    }

    /// Begins to advertise, with a first event now.
    ///
    /// - Parameters:
    ///   - duration: how long; nil for ever.
    ///   - maximumEvents: how many events; 0 for no limit.
    func start(duration: Duration? = nil, maximumEvents: UInt8 = 0) {
        stop()
        isEnabled = true
        channels = set.channels
        eventStart = loop.now
        completedEvents = 0
        self.maximumEvents = maximumEvents
        if let duration {
            limit = loop.schedule(after: duration) { [unowned self] in
                limit = nil
                // Whoever has just been accepted ends it.
                if !isConnecting { finish(.timeout) }
            }
        }
        state = .idle
        timer = loop.schedule(at: eventStart) { [unowned self] in beginEvent() }
    }

    /// Ends advertising; what is on the air is still sent.
    func stop() {
        isEnabled = false
        state = .off
        for task in [timer, limit].compactMap({ $0 }) { loop.cancel(task) }
        (timer, limit, event) = (nil, nil, nil)
        arbiter.remove(self)
    }

    private func finish(_ end: End) {
        stop()
        owner.advertiser(self, ended: end)
    }

    // MARK: Events

    func beginEvent() {
        timer = nil
        guard arbiter.claim(self) else {
            state = .awaitsRadio
            return arbiter.wait(self)
        }
        rotateAddresses()
        guard set.isLegacy else { return beginExtendedEvent() }
        pdu = set.pdu.encoded()
        send(channel: 0)
    }

    private func send(channel index: Int) {
        guard index < channels.count else { return completeEvent() }
        guard hasTime else { return endEvent() }
        state = .sending(channel: index)
        arbiter.node.send(frame(pdu, channel: index), power: power)
    }

    /// Whether the whole exchange on a channel is over before a connection event begins.
    private var hasTime: Bool {
        let phy = RadioPHY.le1M
        var needed = phy.airTimeMicroseconds(octets: pdu.count)
        // The longest answer is CONNECT_IND with 34 octets, and SCAN_REQ with 12 and SCAN_RSP with 37 together.
        if set.isScannable {
            needed += 2 * LinkTiming.interFrameSpace + 176 + 376
        } else if set.isConnectable {
            needed += LinkTiming.interFrameSpace + 352
        }
        return arbiter.isFree(needed, from: loop.now, for: self)
    }

    /// Everything of an event has been sent.
    func completeEvent() {
        completedEvents = completedEvents == .max ? .max : completedEvents + 1
        if maximumEvents > 0, completedEvents >= maximumEvents { return finish(.limitReached) }
        endEvent()
    }

    /// Prepares the next event.
    func endEvent() {
        state = .idle
        event = nil
        let delay = set.isHighDutyCycle ? 0 : random.below(Self.maximumDelay)
        var next = eventStart + pace + .microseconds(Int64(delay))
        // An event that had to wait for the radio does not make the following ones come in a heap.
        if next < loop.now { next = loop.now + .microseconds(Int64(delay)) }
        eventStart = next
        timer = loop.schedule(at: next) { [unowned self] in beginEvent() }
        arbiter.reserve(self, at: next)
        arbiter.release(self)
    }

    private func next(after channel: Int) {
        guard channel + 1 < channels.count else { return completeEvent() }
        state = .switching(channel: channel + 1)
        timer = loop.schedule(after: .microseconds(Self.channelSwitch)) { [unowned self] in
            timer = nil
            send(channel: channel + 1)
        }
    }

    private func frame(_ pdu: [UInt8], channel index: Int) -> RadioFrame {
        .advertising(pdu, channel: channels[index], phy: .le1M)
    }

    // MARK: Radio

    func radioSent() {
        switch state {
        case .extended(let stage): extendedSent(stage)
        case .sending(let channel) where set.isConnectable || set.isScannable: listen(channel)
        case .sending(let channel), .responding(let channel): next(after: channel)
        default: break
        }
    }

    private func listen(_ channel: Int) {
        state = .listening(channel: channel)
        arbiter.node.listen(.advertising(channel: channels[channel], phy: .le1M))
        let deadline = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        timer = loop.schedule(after: deadline) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { next(after: channel) }
        }
    }

    func radioHeardStart() {}

    func radioReceived(_ frame: ReceivedFrame) {
        if case .extended(let stage) = state { return extendedReceived(frame, stage) }
        guard case .listening(let channel) = state, timer == nil else { return }
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else {
            return next(after: channel)
        }
        switch pdu {
        case .scanRequest(let request) where answers(request): respond(request, channel)
        case .connect(let request) where accepts(request): connect(request, channel)
        default: next(after: channel)
        }
    }

    func answers(_ request: ScanRequest) -> Bool {
        guard set.isScannable, request.advertiser == set.ownAddress else { return false }
        let policy = set.parameters.filterPolicy
        return isWelcome(request.scanner, isFiltered: policy == .scanFromAcceptList || policy == .acceptListOnly)
    }

    func accepts(_ request: ConnectIndication) -> Bool {
        guard set.isConnectable, request.advertiser == set.ownAddress else { return false }
        let policy = set.parameters.filterPolicy
        return isWelcome(request.initiator, isFiltered: policy == .connectFromAcceptList || policy == .acceptListOnly)
    }

    /// Whether somebody is answered: by who they are, not by the address that they have just now (6.2).
    private func isWelcome(_ address: BluetoothAddress, isFiltered: Bool) -> Bool {
        guard let device = owner.privacy.device(address) else { return false }
        if set.isDirected { return device.identity.device == set.target }
        return !isFiltered || owner.isAccepted(device.identity)
    }

    private func respond(_ request: ScanRequest, _ channel: Int) {
        state = .responding(channel: channel)
        let response = AdvertisingPDU.scanResponse(.init(advertiser: set.ownAddress, data: set.scanResponse.bytes))
        owner.advertiser(self, wasAskedBy: request.scanner)
        timer = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            timer = nil
            arbiter.node.send(frame(response.encoded(), channel: channel), power: power)
        }
    }

    private func connect(_ request: ConnectIndication, _ channel: Int) {
        guard owner.advertiser(self, canAccept: request) else { return next(after: channel) }
        owner.advertiser(self, accepts: request, at: loop.now)
    }

    func radioTaken() {
        if isBetweenChainedPDUs { return }
        // A connection event cuts this one short.
        if let timer { loop.cancel(timer) }
        timer = nil
        guard isEnabled else { return }
        endEvent()
    }

    func radioFree() {
        guard case .awaitsRadio = state else { return }
        beginEvent()
    }
}

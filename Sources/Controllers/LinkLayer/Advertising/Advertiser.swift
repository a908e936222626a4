import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// The services that an advertiser needs from its controller, and its callbacks.
protocol AdvertiserOwner: AnyObject {
    var privacy: LinkPrivacy { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Whether a connection request can be accepted.
    func advertiser(_ advertiser: Advertiser, canAccept request: ConnectIndication) -> Bool
    /// Called when an acceptable connection request that ended at `end` has been received.
    func advertiser(_ advertiser: Advertiser, accepts request: ConnectIndication, at end: Instant)
    /// Called when a scanner has requested the scan response.
    func advertiser(_ advertiser: Advertiser, wasAskedBy scanner: BluetoothAddress)
    /// Returns where the set's periodic advertising is found by a device that receives a PDU of `advertiser` at
    /// `instant`, and the subevents and response slots of the train, if it has any.
    func advertiser(_ advertiser: Advertiser, announcesTrainAt instant: Instant) -> AdvertisingSet.Announcement
    /// Called when the set has a new private address.
    func advertiserChangedAddress(_ advertiser: Advertiser)
    /// Called when advertising has ended on its own.
    func advertiser(_ advertiser: Advertiser, ended end: Advertiser.End)
}

/// The stage of an extended advertising event.
enum ExtendedStage {
    /// A PDU of the plan is on the air.
    case sending(step: Int)
    /// The next PDU of the plan is due when the timer fires.
    case pausing(step: Int)
    /// Listening for a request after AUX_ADV_IND.
    case listening(channel: UInt8)
    /// AUX_CONNECT_RSP is due or on the air, in response to a request that ended at `end`.
    case connecting(ConnectIndication, end: Instant)
}

/// The advertising of one set (Core Vol 6 Part B 4.4.2), as a sequence of events.
///
/// A legacy event consists of one PDU and its responses on each channel; an extended one is sent by a plan.
final class Advertiser: RadioClaimant {
    /// The duration of high duty cycle directed advertising (4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1_280)
    /// The exclusive upper bound of advDelay, in microseconds (4.4.2.2.1).
    static let maximumDelay: UInt64 = 10_000
    /// How late a response may start after the inter frame space, in microseconds.
    static let responseMargin: Int64 = 4
    /// The time from the end of listening on one channel to the PDU on the next, in microseconds.
    static let channelSwitch: Int64 = 150

    /// The reason for which advertising has ended on its own.
    enum End {
        /// The duration has elapsed.
        case timeout
        /// The maximum number of events has been reached.
        case limitReached
    }

    enum State {
        case off
        /// The next event is due when the timer fires.
        case idle
        /// An event is due, but the radio is in use.
        case awaitsRadio
        case sending(channel: Int)
        case listening(channel: Int)
        /// A SCAN_RSP is due or on the air.
        case responding(channel: Int)
        /// The next channel follows when the timer fires.
        case switching(channel: Int)
        case extended(ExtendedStage)
    }

    var priority: RadioPriority { .advertising }
    let share: RadioShare
    /// The advertised set. Its data may change at any time.
    private(set) var set: AdvertisingSet {
        didSet { (interval, nextLegacy) = (nil, nil) }
    }
    /// The channels of the auxiliary PDUs.
    private var secondary: SecondaryChannels
    private(set) var isEnabled = false
    /// The number of events since advertising started; saturates at the maximum.
    private(set) var completedEvents: UInt8 = 0

    private var state = State.off
    private var timer: ScheduledTask?
    /// The extended event in progress, and when it started.
    private var event: (plan: ExtendedEvent, begin: Instant)?
    private var limit: ScheduledTask?
    private var maximumEvents: UInt8 = 0
    /// The cached ``pace`` of the current set.
    private var interval: Duration?
    private var eventStart = Instant.zero
    /// Tells a response to the PDU sent last from an earlier frame.
    private var responseWindow = ResponseWindow(after: .zero)
    // The private addresses of the set and its target, if any.
    private var ownPrivate: RotatingAddress?
    private var targetPrivate: RotatingAddress?
    /// The legacy event in progress, which keeps its data if the set changes.
    private var legacy: LegacyEvent?
    /// The cached legacy events of the current set.
    private var nextLegacy: LegacyEvent?
    private var channels: [UInt8] = []
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let virtualLoop: VirtualEventLoop?
    /// Whether the clock is accurate to 50 ppm.
    private let isPrecise: Bool
    private let random: RandomSource
    private unowned let owner: any AdvertiserOwner

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
        virtualLoop = loop as? VirtualEventLoop
        self.random = random
        self.isPrecise = isPrecise
        self.owner = owner
        secondary = SecondaryChannels(identifier: UInt32(truncatingIfNeeded: random.next() >> 32))
    }

    /// The time from the start of one event to the next, without the random delay.
    private var pace: Duration {
        let pace = interval ?? set.interval
        interval = pace
        return pace
    }

    /// The transmit power in dBm.
    var power: Double { Double(set.txPower) }

    // MARK: The set

    /// Adopts new parameters, with at most this transmit power.
    func adopt(_ parameters: LESetExtendedAdvertisingParameters, maximumPower: Int8) {
        set.adopt(parameters, maximumPower: maximumPower)
    }

    /// Sets advertising data as a whole, as the legacy command does.
    func setData(_ data: PacketBuffer) {
        set.data = .init(data)
    }

    /// Sets scan response data as a whole, as the legacy command does.
    func setScanResponse(_ data: PacketBuffer) {
        set.scanResponse = .init(data)
    }

    /// Sets advertising data, which changes the DID. Returns an error if that is impossible.
    func update(data operation: LEDataOperation, _ data: PacketBuffer) -> HCIStatus? {
        let before = set.data.bytes
        let update = DataUpdate(operation: operation, data: data, isEnabled: isEnabled)
        if let error = set.update(data: update) { return error }
        renewDataIdentifier()
        if set.data.bytes != before { dataChanged(.advertisingData) }
        return nil
    }

    /// Sets scan response data, which changes the DID. Returns an error if that is impossible.
    func update(scanResponse operation: LEDataOperation, _ data: PacketBuffer) -> HCIStatus? {
        let before = set.scanResponse.bytes
        let update = DataUpdate(operation: operation, data: data, isEnabled: isEnabled)
        if let error = set.update(scanResponse: update) { return error }
        renewDataIdentifier()
        if set.scanResponse.bytes != before { dataChanged(.scanResponseData) }
        return nil
    }

    /// Chooses a DID at random.
    func drawDataIdentifier() {
        set.dataIdentifier = UInt16(truncatingIfNeeded: random.next() >> 52)
    }

    /// Changes the DID, as required for new data (4.4.2.11).
    func renewDataIdentifier() {
        let old = set.dataIdentifier
        repeat { drawDataIdentifier() } while set.dataIdentifier == old
    }

    /// Uses another random address from now on.
    func use(randomAddress address: BluetoothAddress) {
        set.use(randomAddress: address, isOnAir: isEnabled)
    }

    /// Requires a new private address with these changes of the data.
    func changeAddress(with changes: LEAddressChangeReasons) {
        set.addressChanges = changes
    }

    /// Announces the set's periodic advertising from the next event on; nil if it has none.
    func announce(_ train: AdvertisingSet.Announcement?) {
        set.announcement = train
    }

    /// Restricts the auxiliary PDUs to the channels of a map.
    func restrict(to map: ChannelMap) {
        secondary.restrict(to: map)
    }

    // MARK: Addresses

    /// Sets the addresses on the air.
    ///
    /// - Parameters:
    ///   - address: The own address in the absence of a key for private ones.
    ///   - ownKey: The key for the set's own private addresses.
    ///   - targetKey: The key for the private addresses of the set's target.
    func setAddresses(_ address: BluetoothAddress?, ownKey: Key128?, targetKey: Key128?) {
        let rules = owner.privacy.rules
        ownPrivate = ownKey.map { RotatingAddress($0, rules) }
        targetPrivate = targetKey.map { RotatingAddress($0, rules) }
        set.air = .init(own: address ?? .none, isPrivate: ownPrivate != nil)
        showPrivateAddresses()
    }

    /// Changes the private address with the next event, before its lifetime is over, if the host has requested that for
    /// this kind of data: so that the old and the new data cannot be linked to one device (Core Vol 4 Part E 7.8.122).
    private func dataChanged(_ reason: LEAddressChangeReasons) {
        if set.addressChanges.contains(reason) { ownPrivate?.renew(owner.privacy.rules) }
    }

    /// Private addresses change only between events, so that a response matches the advertised address.
    private func rotateAddresses() {
        guard ownPrivate != nil || targetPrivate != nil else { return }
        let rules = owner.privacy.rules
        let own = ownPrivate?.current(rules)
        let target = targetPrivate?.current(rules)
        if own ?? set.air.own != set.air.own || target != set.air.target { showPrivateAddresses() }
    }

    private func showPrivateAddresses() {
        var air = set.air
        if let ownPrivate { air.own = ownPrivate.address }
        air.target = targetPrivate?.address
        set.air = air
        if ownPrivate != nil { owner.advertiserChangedAddress(self) }
    }

    /// Starts advertising, with the first event now.
    ///
    /// - Parameters:
    ///   - duration: The duration; nil for no limit.
    ///   - maximumEvents: The maximum number of events; 0 for no limit.
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
                // A request that has just been accepted ends advertising instead.
                if !isConnecting { finish(.timeout) }
            }
        }
        state = .idle
        timer = loop.schedule(at: eventStart) { [unowned self] in beginEvent(isDue: true) }
    }

    /// Stops advertising. A PDU on the air is still sent.
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

    /// Begins an event, because it is due, or because another user of the radio has just released it. That user may have
    /// more to do at this instant, so time may not pass then.
    private func beginEvent(isDue: Bool) {
        timer = nil
        guard arbiter.claim(self) else {
            state = .awaitsRadio
            return arbiter.wait(self)
        }
        rotateAddresses()
        guard set.isLegacy else { return beginExtendedEvent() }
        legacy = nextLegacy ?? LegacyEvent(set)
        nextLegacy = legacy
        if isDue, passUnheardEvent() { completeEvent() } else { send(channel: 0) }
    }

    /// Passes the legacy event that begins now at once, if nobody can hear or disturb it. Returns false if it is to be
    /// carried out frame by frame.
    private func passUnheardEvent() -> Bool {
        guard let virtualLoop, let event = legacy, arbiter.node.radio.isDeserted, let horizon = virtualLoop.horizon()
        else { return false }
        let frame = frame(event.pdu, channel: 0)
        let listening = event.isAnswered ? LinkTiming.interFrameSpace + Self.responseMargin : 0
        let step = frame.airTimeMicroseconds + listening + Self.channelSwitch
        let last = loop.now.advanced(byMicroseconds: step * Int64(channels.count - 1))
        let end = last.advanced(byMicroseconds: frame.airTimeMicroseconds + listening)
        // The radio must be free before the PDU on each channel.
        guard end < horizon,
            last.advanced(byMicroseconds: event.needed) <= arbiter.nextReservation(after: loop.now, except: self)
        else { return false }
        // After a channel, the radio keeps listening until the next one's PDU.
        let sending = frame.airTimeMicroseconds * Int64(channels.count)
        let hearing = event.isAnswered ? end.microseconds(since: loop.now) - sending : 0
        arbiter.node.countUnheard(frame, power: power, times: channels.count, listening: hearing)
        virtualLoop.pass(to: end)
        return true
    }

    private func send(channel index: Int) {
        guard let event = legacy, index < channels.count else { return completeEvent() }
        guard arbiter.isFree(event.needed, from: loop.now, for: self) else { return endEvent() }
        state = .sending(channel: index)
        arbiter.node.send(frame(event.pdu, channel: index), power: power)
    }

    /// Counts an event whose PDUs have all been sent.
    private func completeEvent() {
        completedEvents = completedEvents == .max ? .max : completedEvents + 1
        if maximumEvents > 0, completedEvents >= maximumEvents { return finish(.limitReached) }
        endEvent()
    }

    /// Schedules the next event.
    private func endEvent() {
        state = .idle
        event = nil
        let delay = set.isHighDutyCycle ? 0 : random.below(Self.maximumDelay)
        var next = eventStart + pace + .microseconds(Int64(delay))
        // A delayed event must not make the following ones bunch up.
        if next < loop.now { next = loop.now + .microseconds(Int64(delay)) }
        eventStart = next
        timer = loop.schedule(at: next) { [unowned self] in beginEvent(isDue: true) }
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
        case .sending(let channel) where legacy?.isAnswered == true: listen(channel)
        case .sending(let channel), .responding(let channel): next(after: channel)
        default: break
        }
    }

    private func listen(_ channel: Int) {
        state = .listening(channel: channel)
        awaitResponse(.advertising(channel: channels[channel], phy: .le1M)) { [unowned self] in next(after: channel) }
    }

    /// Listens for a response to the PDU just sent, and calls `proceed` if none has started in time.
    ///
    /// A frame that starts before the response is due is from another advertiser. Waiting for its end would align the
    /// two events, so that their PDUs collide on all further channels.
    private func awaitResponse(_ tuning: RadioTuning, orElse proceed: @escaping () -> Void) {
        responseWindow = ResponseWindow(after: loop.now)
        arbiter.node.listen(tuning)
        let deadline = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        timer = loop.schedule(after: deadline) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving || !responseWindow.wasMet { proceed() }
        }
    }

    func radioDetectedStart() {
        responseWindow.handleStart(at: loop.now)
    }

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

    private func answers(_ request: ScanRequestPayload) -> Bool {
        guard set.isScannable, request.advertiser == set.air.own else { return false }
        let policy = set.parameters.filterPolicy
        return isAccepted(request.scanner, isFiltered: policy == .scanFromAcceptList || policy == .acceptListOnly)
    }

    private func accepts(_ request: ConnectIndication) -> Bool {
        guard set.isConnectable, request.advertiser == set.air.own else { return false }
        let policy = set.parameters.filterPolicy
        return isAccepted(request.initiator, isFiltered: policy == .connectFromAcceptList || policy == .acceptListOnly)
    }

    /// Whether a request is answered. This depends on the requester's identity, not on its current address (6.2).
    private func isAccepted(_ address: BluetoothAddress, isFiltered: Bool) -> Bool {
        guard let device = owner.privacy.device(address) else { return false }
        if set.isDirected { return device.identity.device == set.target }
        return !isFiltered || owner.isAccepted(device.identity)
    }

    private func respond(_ request: ScanRequestPayload, _ channel: Int) {
        state = .responding(channel: channel)
        let response = AdvertisingPDU.scanResponse(.init(advertiser: set.air.own, data: set.scanResponse.bytes))
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

    func radioLost() {
        if isBetweenChainedPDUs { return }
        // A connection event cuts this one short.
        if let timer = timer.take() { loop.cancel(timer) }
        guard isEnabled else { return }
        endEvent()
    }

    func radioFree() {
        guard case .awaitsRadio = state else { return }
        beginEvent(isDue: false)
    }

    // MARK: Extended events (4.4.2.2 to 4.4.2.11)

    private func beginExtendedEvent() {
        let begin = loop.now
        var set = set
        if set.announcement != nil {
            let start = begin + .microseconds(ExtendedEvent.segmentStart(of: set))
            set.announcement = owner.advertiser(self, announcesTrainAt: start)
        }
        play(
            ExtendedEvent(set, isPrecise: isPrecise, channels: &secondary, place: placement(from: begin)),
            from: begin
        )
    }

    /// Returns a placement that puts the PDUs of a chain at times at which no user of higher priority is expected to
    /// need the radio.
    private func placement(from begin: Instant) -> ExtendedEvent.Placement {
        { [unowned self] start, airTime in
            let free = arbiter.firstFree(airTime, from: begin + .microseconds(start), for: self)
            return (free - begin).microseconds
        }
    }

    /// Sends the PDUs of a plan, each at its time.
    private func play(_ plan: ExtendedEvent, from begin: Instant) {
        event = (plan, begin)
        prepare(step: 0)
    }

    private func prepare(step: Int) {
        guard let event, step < event.plan.steps.count else { return completeEvent() }
        let start = event.begin + .microseconds(event.plan.steps[step].start)
        if start <= loop.now { return send(step: step) }
        state = .extended(.pausing(step: step))
        timer = loop.schedule(at: start) { [unowned self] in
            timer = nil
            send(step: step)
        }
    }

    private func send(step: Int) {
        // A connection event may have taken the radio in the meantime.
        guard let event, arbiter.claim(self) else { return endEvent() }
        guard hasTime(for: step, of: event.plan) else { return step == 0 ? postpone(event.plan) : endEvent() }
        state = .extended(.sending(step: step))
        arbiter.node.send(event.plan.steps[step].frame, power: power)
    }

    /// Postpones an event that cannot begin now until the radio is expected to be free, unless the next event is due by
    /// then.
    private func postpone(_ plan: ExtendedEvent) {
        let needed = time(from: 0, of: plan)
        let begin = arbiter.firstFree(needed, from: loop.now, for: self)
        guard plan.auxiliary > 0, begin > loop.now, begin < eventStart + pace else { return endEvent() }
        state = .idle
        event = nil
        timer = loop.schedule(at: begin) { [unowned self] in beginEvent(isDue: false) }
        arbiter.reserve(self, at: begin)
        arbiter.release(self)
    }

    /// Whether a PDU can be sent in full. ADV_EXT_IND requires time for AUX_ADV_IND as well, and for the response to a
    /// request.
    private func hasTime(for step: Int, of plan: ExtendedEvent) -> Bool {
        arbiter.isFree(time(from: step, of: plan), from: loop.now, for: self)
    }

    /// Returns how long the radio is needed once a PDU starts, in microseconds.
    private func time(from step: Int, of plan: ExtendedEvent) -> Int64 {
        let steps = plan.steps
        let last = max(step, plan.auxiliary)
        let end = steps[last].start + steps[last].frame.airTimeMicroseconds
        let isFollowed = plan.auxiliary > 0 && step <= plan.auxiliary
        return end - steps[step].start + (isFollowed ? set.answerTime : 0)
    }

    /// Whether a connection request has been accepted and is being answered.
    private var isConnecting: Bool {
        if case .extended(.connecting) = state { return true }
        return false
    }

    /// Whether the next PDU is part of a chain. Other users may have the radio until then.
    private var isBetweenChainedPDUs: Bool {
        guard case .extended(.pausing(let step)) = state, let event else { return false }
        return step > event.plan.auxiliary
    }

    private func extendedSent(_ stage: ExtendedStage) {
        guard let event else { return }
        switch stage {
        case .sending(let step):
            let isAuxiliary = event.plan.auxiliary > 0 && step == event.plan.auxiliary
            if isAuxiliary, set.isConnectable || set.isScannable {
                listen(behind: event.plan.steps[step].frame)
            } else {
                prepare(step: step + 1)
            }
        case .connecting(let request, let end):
            owner.advertiser(self, accepts: request, at: end)
        case .pausing, .listening:
            break
        }
    }

    private func listen(behind frame: RadioFrame) {
        state = .extended(.listening(channel: frame.channel))
        awaitResponse(.advertising(channel: frame.channel, phy: set.parameters.secondaryPHY)) { [unowned self] in
            completeEvent()
        }
    }

    private func extendedReceived(_ frame: ReceivedFrame, _ stage: ExtendedStage) {
        guard case .listening(let channel) = stage, timer == nil else { return }
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else {
            return completeEvent()
        }
        let begin = loop.now + .microseconds(LinkTiming.interFrameSpace)
        switch pdu {
        case .scanRequest(let request) where answers(request):
            owner.advertiser(self, wasAskedBy: request.scanner)
            let plan = ExtendedEvent(
                response: set,
                channel: channel,
                isPrecise: isPrecise,
                channels: &secondary,
                place: placement(from: begin)
            )
            play(plan, from: begin)
        case .connect(let request) where accepts(request) && owner.advertiser(self, canAccept: request):
            respond(to: request, channel, at: begin)
        default:
            completeEvent()
        }
    }

    private func respond(to request: ConnectIndication, _ channel: UInt8, at begin: Instant) {
        var header = ExtendedHeader()
        header.advertiser = request.advertiser
        header.target = request.initiator
        let response = AdvertisingPDU.connectResponse(.init(mode: .nonConnectable, extended: header))
        let phy = set.parameters.secondaryPHY.radioPHY
        state = .extended(.connecting(request, end: loop.now))
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            arbiter.node.send(.advertising(response.encoded(), channel: channel, phy: phy), power: power)
        }
    }
}

/// A legacy event of a set.
private struct LegacyEvent {
    let pdu: [UInt8]
    /// Whether scanners or initiators may answer.
    let isAnswered: Bool
    /// The time for the whole exchange on a channel, in microseconds.
    let needed: Int64

    init(_ set: AdvertisingSet) {
        pdu = set.pdu.encoded()
        isAnswered = set.isConnectable || set.isScannable
        let airTime = RadioPHY.le1M.airTimeMicroseconds(octets: pdu.count)
        // The longest response is CONNECT_IND with 34 octets, or SCAN_REQ with 12 and SCAN_RSP with 37 octets together.
        if set.isScannable {
            needed = airTime + 2 * LinkTiming.interFrameSpace + 176 + 376
        } else {
            needed = airTime + (set.isConnectable ? LinkTiming.interFrameSpace + 352 : 0)
        }
    }
}

/// The earliest start of a response to a PDU (Core Vol 6 Part B 4.1.1 and 4.2.1).
///
/// There is no latest start: on a loop in real time, a response may start after the instant at which it was due.
struct ResponseWindow {
    /// How early a response may start before the end of the inter frame space, in microseconds: the accuracy of the
    /// active clocks.
    private static let clockMargin: Int64 = 2

    private let first: Instant
    /// Whether the last frame that the receiver locked on to may be a response.
    private(set) var wasMet = false

    /// Creates the window of responses to a PDU that ended at `end`.
    init(after end: Instant) {
        first = end + .microseconds(LinkTiming.interFrameSpace - Self.clockMargin)
    }

    mutating func handleStart(at instant: Instant) {
        wasMet = instant >= first
    }
}

import BluetoothTypes
import EventLoops
import HCI

/// The services that a periodic advertiser needs from its controller, and its callbacks.
protocol PeriodicAdvertiserOwner: AnyObject {
    /// Called when there is space for the data of `count` subevents, starting with `first`.
    func train(_ train: PeriodicAdvertiser, wantsDataFrom first: UInt8, count: UInt8)
    /// Called with the responses received in a subevent.
    func train(_ train: PeriodicAdvertiser, reports report: LEPeriodicAdvertisingResponseReport)
    /// Returns the connection request to send, which ends at `end`; nil if no connection is allowed.
    func train(_ train: PeriodicAdvertiser, prepares pendingConnect: PendingConnectRequest, endingAt end: Instant)
        -> ConnectIndication?
    /// Called when a connection request has been answered.
    func train(
        _ train: PeriodicAdvertiser,
        requested request: ConnectIndication,
        for pendingConnect: PendingConnectRequest,
        _ start: LinkStart
    )
    func train(_ train: PeriodicAdvertiser, failed pendingConnect: PendingConnectRequest)
}

/// The periodic advertising of one set (Core Vol 6 Part B 4.4.2.12): a train of AUX_SYNC_IND and the PDUs chained to
/// it, or of subevents with responses.
///
/// The train starts with the advertising of the set, which announces its location, and continues without it.
final class PeriodicAdvertiser: RadioClaimant {
    enum State {
        case off
        /// The next event is due when the timer fires.
        case waiting
        /// A PDU of the event is on the air.
        case sending(step: Int)
        /// The next PDU of the event is due when the timer fires.
        case pausing(step: Int)
        /// A subevent of a train with responses is in progress.
        case subevent(SubeventStage)
    }

    /// The minimum time from an AUX_ADV_IND to the AUX_SYNC_IND that it announces, in microseconds: the longest PDU of
    /// the uncoded PHYs, and time to switch the radio.
    private static let leadTime: Int64 = 3_000

    /// The maximum number of subevents for which data are requested in advance; a command holds data for 15 (Core Vol 4
    /// Part E 7.8.125).
    static let maximumAhead: UInt8 = 15
    /// The maximum by which listening for a response starts earlier and ends later than the slot, in microseconds. It
    /// must not reach into the responses in the neighbouring slots.
    static let maximumWidening = LinkTiming.interFrameSpace / 2

    var priority: RadioPriority { .periodic }
    let share: RadioShare
    var period: Int64? { Int64(interval) * SyncInfo.intervalUnit }

    /// The parameters set by the host; nil if it has set none.
    private(set) var parameters: LESetPeriodicAdvertisingParametersV2?
    /// The advertising data, which may change at any time.
    private(set) var data = AdvertisingSet.HostData()
    /// Whether the host has enabled the train.
    private(set) var isWanted = false

    private(set) var accessAddress: UInt32 = 0
    private(set) var crcInit: UInt32 = 0
    /// paEventCounter of the event being prepared or in progress, and its start.
    private(set) var counter: UInt16 = 0
    private(set) var anchor = Instant.zero
    private(set) var map = ChannelMap.all
    private(set) var interval: UInt16 = 0
    private(set) var phy = LEPHY.le1M
    private var txPower: Int8 = 0
    private var selection = ChannelSelection2(accessAddress: 0)
    private var secondary = SecondaryChannels(identifier: 0)
    private var state = State.off
    private var timer: ScheduledTask?
    private var parts: [AuxiliarySegment.Part] = []
    let set: UInt8
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let random: RandomSource
    private let accuracy: ClockAccuracy
    private unowned let owner: any PeriodicAdvertiserOwner

    // State of a train with responses.
    /// The subevents and response slots; nil for a train without responses.
    private(set) var responses: ResponseTiming?
    /// The subevent being prepared or in progress.
    private(set) var subevent: UInt8 = 0
    /// The data supplied for the next occurrence of each subevent.
    private(set) var subeventData: [UInt8: LESubeventData] = [:]
    /// The pending connection request, which replaces the data of its subevent.
    private(set) var pendingConnect: PendingConnectRequest?

    init(
        set: UInt8,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        accuracy: ClockAccuracy,
        owner: any PeriodicAdvertiserOwner
    ) {
        share = arbiter.share(of: .advertising(set: set))
        self.set = set
        self.owner = owner
        self.arbiter = arbiter
        self.loop = loop
        self.random = random
        self.accuracy = accuracy
    }

    var isRunning: Bool {
        if case .off = state { return false }
        return true
    }

    /// Whether the host has configured subevents.
    var hasSubevents: Bool { parameters?.timing.subevents ?? 0 > 0 }

    // MARK: Commands of the host

    /// Adopts new parameters. A train with subevents has no data of its own (Core Vol 4 Part E 7.8.125).
    func adopt(_ parameters: LESetPeriodicAdvertisingParametersV2) {
        self.parameters = parameters
        if hasSubevents { data = AdvertisingSet.HostData() }
    }

    /// Sets the advertising data (7.8.62). Returns an error if that is impossible; the data are then as before, or
    /// discarded if they are too long in total.
    ///
    /// - Parameter phy: The PHY of the train if it starts now.
    func update(_ operation: LEDataOperation, _ data: PacketBuffer, on phy: LEPHY) -> HCIStatus? {
        let before = self.data
        let update = DataUpdate(operation: operation, data: data, isEnabled: isWanted)
        if let error = self.data.apply(update) { return error }
        guard isWanted, !hasTime(on: phy) else { return nil }
        self.data = before
        return .packetTooLong
    }

    /// Whether an event of the train ends before the next one starts.
    func hasTime(on phy: LEPHY) -> Bool {
        if hasSubevents { return true }
        return eventTime(on: phy) < Int64(parameters?.v1.intervalMin ?? 0) * SyncInfo.intervalUnit
    }

    /// Lets the train start together with its set.
    func enable() {
        isWanted = true
    }

    /// Stops the train until the host enables it again.
    func disable() {
        isWanted = false
        stop()
    }

    /// Supplies the data for the next occurrence of some subevents: all of them or none (7.8.125).
    func supply(_ subevents: [LESubeventData]) -> HCIStatus {
        for data in subevents {
            if let error = error(in: data) { return error }
        }
        for data in subevents { subeventData[data.subevent] = data }
        return .success
    }

    /// Returns an error if the data do not fit a subevent.
    private func error(in data: LESubeventData) -> HCIStatus? {
        guard let parameters, data.subevent < parameters.timing.subevents, data.data.count <= 251,
            UInt16(data.firstSlot) + UInt16(data.slots) <= UInt16(parameters.responseSlots)
        else { return .invalidParameters }
        let pdu = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: data.data)).encoded()
        let time = phy.radioPHY.airTimeMicroseconds(octets: pdu.count)
        return time <= parameters.timing.requestTime ? nil : .packetTooLong
    }

    /// Connects to a device with the next occurrence of a subevent.
    func connect(_ pendingConnect: PendingConnectRequest) {
        self.pendingConnect = pendingConnect
    }

    // MARK: Start and stop

    /// Starts the train, with its first event one interval from now. Does nothing if the host has not enabled it, or if
    /// it is already running.
    func begin(_ set: AdvertisingSet, map: ChannelMap) {
        guard isWanted, !isRunning, let parameters else { return }
        interval = parameters.v1.intervalMin
        (phy, txPower, self.map) = (set.parameters.secondaryPHY, set.txPower, map)
        accessAddress = AccessAddress.random(random)
        crcInit = UInt32(truncatingIfNeeded: random.next() >> 40)
        counter = UInt16(truncatingIfNeeded: random.next() >> 48)
        selection = ChannelSelection2(accessAddress: accessAddress)
        secondary = SecondaryChannels(identifier: accessAddress)
        secondary.restrict(to: map)
        subevent = 0
        // Responses have an access address of their own.
        responses =
            hasSubevents ? .init(accessAddress: AccessAddress.random(random), timing: parameters.timing) : nil
        anchor = loop.now + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
        wait()
        if let responses { owner.train(self, wantsDataFrom: 0, count: ahead(responses)) }
    }

    /// Stops the train. A PDU on the air is still sent.
    func stop() {
        state = .off
        if let timer = timer.take() { loop.cancel(timer) }
        subeventData = [:]
        arbiter.remove(self)
        if let pendingConnect = cancelConnection() { owner.train(self, failed: pendingConnect) }
    }

    /// Returns SyncInfo for an AUX_ADV_IND that starts at `start`; nil if the train is not running.
    func syncInfo(from start: Instant) -> SyncInfo? {
        guard isRunning else { return nil }
        let next = event(after: start + .microseconds(Self.leadTime))
        return syncInfo(at: next.counter, offset: (next.anchor - start).microseconds)
    }

    /// Returns the first event that starts at or after an instant.
    func event(after instant: Instant) -> (anchor: Instant, counter: UInt16) {
        guard let period, anchor < instant else { return (anchor, counter) }
        let events = ((instant - anchor).microseconds + period - 1) / period
        return (anchor + .microseconds(events * period), counter &+ UInt16(truncatingIfNeeded: events))
    }

    /// Returns SyncInfo for one of the events, which starts `offset` microseconds after the reference point.
    func syncInfo(at counter: UInt16, offset: Int64) -> SyncInfo {
        var info = SyncInfo()
        info.offset = offset
        (info.interval, info.map, info.accuracy) = (interval, map, accuracy)
        (info.accessAddress, info.crcInit, info.counter) = (accessAddress, crcInit, counter)
        return info
    }

    // MARK: Events

    private func wait() {
        state = .waiting
        let begin = anchor + .microseconds(responses?.timing.start(of: subevent) ?? 0)
        arbiter.reserve(self, at: begin)
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            beginEvent()
        }
    }

    private func beginEvent() {
        if let responses { return beginSubevent(responses) }
        let segment = segment(&secondary)
        parts = segment.parts
        // The event counter determines the channel of the first PDU; pointers give those of the others.
        parts[0].channel = selection.channel(counter: counter, map: map)
        // An event without time is skipped. The next one keeps its time.
        guard arbiter.isFree(segment.duration, from: loop.now, for: self), arbiter.claim(self) else {
            return endEvent()
        }
        send(step: 0)
    }

    /// Returns AUX_SYNC_IND and the PDUs chained to it.
    private func segment(_ channels: inout SecondaryChannels) -> AuxiliarySegment {
        AuxiliarySegment(
            mode: .nonConnectable,
            header: header,
            data: data.bytes,
            phy: phy,
            isPrecise: accuracy.partsPerMillion <= 50,
            channels: &channels
        )
    }

    /// The extended header of the first PDU of an event or subevent.
    private var header: ExtendedHeader {
        var header = ExtendedHeader()
        if parameters?.v1.properties.contains(.includeTxPower) ?? false { header.txPower = txPower }
        return header
    }

    /// Returns the duration of an event, in microseconds. For a train that is not running, adopts `phy` as its PHY.
    private func eventTime(on phy: LEPHY) -> Int64 {
        self.phy = isRunning ? self.phy : phy
        var channels = SecondaryChannels(identifier: 0)
        return segment(&channels).duration
    }

    private func send(step: Int) {
        guard arbiter.claim(self) else { return endEvent() }
        state = .sending(step: step)
        send(parts[step].pdu, on: parts[step].channel)
    }

    private func send(_ pdu: [UInt8], on channel: UInt8) {
        let frame = RadioFrame(
            channel: channel,
            accessAddress: accessAddress,
            crcInit: crcInit,
            phy: phy.radioPHY,
            pdu: pdu
        )
        arbiter.node.send(frame, power: Double(txPower))
    }

    /// Moves on to the next event or subevent.
    private func endEvent() {
        guard isRunning else { return }
        if let timer = timer.take() { loop.cancel(timer) }
        advance()
        wait()
        arbiter.release(self)
    }

    private func advance() {
        if let responses, subevent + 1 < responses.timing.subevents {
            subevent += 1
            return
        }
        subevent = 0
        counter &+= 1
        anchor = anchor + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
    }

    // MARK: Radio

    func radioSent() {
        if case .subevent(let stage) = state { return subeventSent(stage) }
        guard case .sending(let step) = state else { return }
        guard step + 1 < parts.count else { return endEvent() }
        state = .pausing(step: step + 1)
        timer = loop.schedule(at: anchor + .microseconds(parts[step + 1].start)) { [unowned self] in
            timer = nil
            send(step: step + 1)
        }
    }

    func radioDetectedStart() {
        guard case .subevent = state else { return }
        if let timer = timer.take() { loop.cancel(timer) }
    }

    func radioReceived(_ frame: ReceivedFrame) {
        if case .subevent(let stage) = state { subeventReceived(frame, stage) }
    }

    func radioLost() {
        switch state {
        case .sending, .pausing: endEvent()
        case .subevent(let stage): subeventLost(stage)
        case .off, .waiting: break
        }
    }

    func radioFree() {}

    // MARK: Subevents with responses (4.4.2.12)

    /// Returns the number of subevents for which data are requested in advance.
    private func ahead(_ responses: ResponseTiming) -> UInt8 { min(responses.timing.subevents, Self.maximumAhead) }

    /// Ends the subevent, and requests data for another one.
    private func endSubevent() {
        if let responses {
            let next = (UInt16(subevent) + UInt16(ahead(responses))) % UInt16(responses.timing.subevents)
            owner.train(self, wantsDataFrom: UInt8(truncatingIfNeeded: next), count: 1)
        }
        endEvent()
    }

    private func beginSubevent(_ responses: ResponseTiming) {
        // The event and the subevent determine the channel (4.5.8.3).
        let channel = selection.channel(counter: counter ^ UInt16(subevent), map: map)
        if let pendingConnect, pendingConnect.subevent == subevent { return request(pendingConnect, on: channel) }
        guard let data = subeventData.removeValue(forKey: subevent) else { return endSubevent() }
        let pdu = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: data.data)).encoded()
        let time = phy.radioPHY.airTimeMicroseconds(octets: pdu.count)
        guard arbiter.isFree(time, from: loop.now, for: self), arbiter.claim(self) else {
            owner.train(self, reports: .init(set: set, subevent: subevent, wasLeftOut: true, responses: []))
            return endSubevent()
        }
        let first = UInt16(data.firstSlot)
        state = .subevent(
            .sending(
                ResponseSlots(
                    origin: loop.now,
                    channel: channel,
                    timing: responses,
                    left: first..<first + UInt16(data.slots)
                )
            )
        )
        send(pdu, on: channel)
    }

    private func subeventSent(_ stage: SubeventStage) {
        switch stage {
        case .sending(let slots): prepare(slots)
        case .requesting(let request, let pendingConnect, let channel):
            awaitAnswer(request, pendingConnect, on: channel)
        case .pausing, .listening, .awaiting: break
        }
    }

    // MARK: Responses

    private func prepare(_ slots: ResponseSlots) {
        guard let next = slots.next else { return finish(slots) }
        let widening = min(ClockAccuracy.widening(accuracy, accuracy, since: next - slots.origin), Self.maximumWidening)
        state = .subevent(.pausing(slots))
        let begin = max(loop.now, next - .microseconds(widening))
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            listen(slots, until: next + .microseconds(widening))
        }
        // Until then other users may have the radio.
        arbiter.reserve(self, at: begin)
        arbiter.release(self)
    }

    private func listen(_ slots: ResponseSlots, until end: Instant) {
        guard arbiter.claim(self) else { return subeventLost(.pausing(slots)) }
        state = .subevent(.listening(slots))
        tune(to: slots.channel, slots.timing.accessAddress)
        deadline(at: end) { [unowned self] in silence(slots) }
    }

    private func silence(_ slots: ResponseSlots) {
        var slots = slots
        slots.record()
        prepare(slots)
    }

    private func tune(to channel: UInt8, _ accessAddress: UInt32) {
        arbiter.node.sleep()
        arbiter.node.listen(
            RadioTuning(
                channel: channel,
                accessAddress: accessAddress,
                crcInit: crcInit,
                modulation: phy.radioPHY.modulation
            )
        )
    }

    private func deadline(at instant: Instant, _ silence: @escaping () -> Void) {
        timer = loop.schedule(at: instant) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { silence() }
        }
    }

    private func subeventReceived(_ frame: ReceivedFrame, _ stage: SubeventStage) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch stage {
        case .listening(var slots):
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else { return silence(slots) }
            slots.record { response in
                (response.txPower, response.rssi) = (body.extended.txPower ?? 127, frame.rssi)
                (response.dataStatus, response.data) = (.complete, body.data)
            }
            prepare(slots)
        case .awaiting(let request, let pendingConnect, let start):
            guard case .connectResponse(let body)? = pdu, body.extended.advertiser == request.advertiser,
                body.extended.target == request.initiator
            else { return fail(pendingConnect) }
            self.pendingConnect = nil
            endSubevent()
            owner.train(self, requested: request, for: pendingConnect, start)
        case .sending, .pausing, .requesting:
            break
        }
    }

    private func finish(_ slots: ResponseSlots) {
        let (number, responses) = (subevent, slots.receivedResponses)
        for report in LEPeriodicAdvertisingResponseReport.reports(set: set, subevent: number, responses) {
            owner.train(self, reports: report)
        }
        endSubevent()
    }

    /// Handles the loss of the radio to a link: the remaining responses are lost.
    private func subeventLost(_ stage: SubeventStage) {
        switch stage {
        case .sending(var slots), .pausing(var slots), .listening(var slots):
            while slots.next != nil { slots.record() }
            finish(slots)
        case .requesting(_, let pendingConnect, _), .awaiting(_, let pendingConnect, _):
            fail(pendingConnect)
        }
    }

    // MARK: Connections

    /// Whether a connection request is on the air, or awaits its response.
    private var isRequesting: Bool {
        switch state {
        case .subevent(.requesting), .subevent(.awaiting): true
        default: false
        }
    }

    private func request(_ pendingConnect: PendingConnectRequest, on channel: UInt8) {
        let time = phy.radioPHY.airTimeMicroseconds(octets: 2 + 34)
        let answer = LinkTiming.interFrameSpace + phy.radioPHY.airTimeMicroseconds(octets: 2 + 14)
        // Without time for it, the request is sent in the same subevent of the next event.
        guard arbiter.isFree(time + answer, from: loop.now, for: self), arbiter.claim(self) else {
            return endSubevent()
        }
        guard let request = owner.train(self, prepares: pendingConnect, endingAt: loop.now + .microseconds(time)) else {
            return fail(pendingConnect)
        }
        state = .subevent(.requesting(request, pendingConnect, channel: channel))
        send(AdvertisingPDU.connect(request).encoded(), on: channel)
    }

    private func awaitAnswer(_ request: ConnectIndication, _ pendingConnect: PendingConnectRequest, on channel: UInt8) {
        let start = LinkStart(end: loop.now, phy: phy, isAuxiliary: true)
        state = .subevent(.awaiting(request, pendingConnect, start))
        tune(to: channel, accessAddress)
        let time = LinkTiming.interFrameSpace + Advertiser.responseMargin
        deadline(at: loop.now + .microseconds(time)) { [unowned self] in fail(pendingConnect) }
    }

    /// Reports a failed connection. The request is sent only once.
    private func fail(_ pendingConnect: PendingConnectRequest) {
        self.pendingConnect = nil
        endSubevent()
        owner.train(self, failed: pendingConnect)
    }

    /// Cancels the pending connection request, unless it is on the air. Returns it if there was one.
    func cancelConnection() -> PendingConnectRequest? {
        guard !isRequesting, let pendingConnect else { return nil }
        self.pendingConnect = nil
        return pendingConnect
    }
}

import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What a train of this device tells.
protocol PeriodicAdvertiserOwner: AnyObject {
    /// There is room for the data of so many subevents.
    func train(_ train: PeriodicAdvertiser, wantsDataFrom first: UInt8, count: UInt8)
    /// What was heard in the response slots of a subevent.
    func train(_ train: PeriodicAdvertiser, reports report: LEPeriodicAdvertisingResponseReport)
    /// The request for a connection that ends at an instant; nil when there can be none.
    func train(_ train: PeriodicAdvertiser, prepares wish: ConnectionWish, endingAt end: Instant) -> ConnectIndication?
    /// A request was answered, or was not.
    func train(
        _ train: PeriodicAdvertiser,
        requested request: ConnectIndication,
        for wish: ConnectionWish,
        _ start: LinkStart
    )
    func train(_ train: PeriodicAdvertiser, failed wish: ConnectionWish)
}

/// Periodic advertising of one set (Core Vol 6 Part B 4.4.2.12): AUX_SYNC_IND at fixed times, with what is chained to it, or
/// the subevents of a train with responses. It begins with the advertising of the set, which tells where it is, and goes on
/// without.
final class PeriodicAdvertiser: RadioUser {
    enum State {
        case off
        /// The next event is due at the timer.
        case waiting
        /// A PDU of the event is on the air.
        case sending(step: Int)
        /// A PDU of the event is due at the timer.
        case pausing(step: Int)
        /// A subevent of a train with responses.
        case subevent(SubeventStage)
    }

    /// What an AUX_ADV_IND at least comes before the AUX_SYNC_IND that it tells of, in microseconds: the longest PDU of the
    /// PHYs without coding, and time to turn round.
    private static let leadTime: Int64 = 3_000

    var priority: RadioPriority { .periodic }
    let share: RadioShare
    var period: Int64? { Int64(interval) * SyncInfo.intervalUnit }

    /// The parameters as the host gave them; nil before it has.
    var parameters: LESetPeriodicAdvertisingParametersV2?
    /// The data, which may change at any time.
    var data = AdvertisingSet.HostData()
    /// Whether the host wants the train.
    var isWanted = false

    private(set) var accessAddress: UInt32 = 0
    private(set) var crcInit: UInt32 = 0
    /// paEventCounter of the event that is prepared or running, and when it begins.
    private(set) var counter: UInt16 = 0
    private(set) var anchor = Instant.zero
    private(set) var map = ChannelMap.all
    private(set) var interval: UInt16 = 0
    private(set) var phy = LEPHY.le1M
    private(set) var txPower: Int8 = 0
    private(set) var selection = ChannelSelection2(accessAddress: 0)
    private var secondary = SecondaryChannels(identifier: 0)
    var state = State.off
    var timer: ScheduledTask?
    private var parts: [AuxiliarySegment.Part] = []
    let set: UInt8
    let arbiter: RadioArbiter
    let loop: any EventLoop
    private let random: RandomSource
    let accuracy: ClockAccuracy
    unowned let owner: any PeriodicAdvertiserOwner

    // A train with responses.
    /// How its events are divided; nil for a train without.
    private(set) var responses: ResponseTiming?
    /// The subevent that is prepared or running.
    private(set) var subevent: UInt8 = 0
    /// What the host has given for the next time of each subevent.
    var subeventData: [UInt8: LESubeventData] = [:]
    /// Whom a subevent is to connect to instead.
    var wish: ConnectionWish?

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

    /// Whether the train is on the air.
    var isRunning: Bool {
        if case .off = state { return false }
        return true
    }

    /// Begins with a first event one interval from now, if the host wants it and it does not run yet.
    func begin(_ set: AdvertisingSet, map: ChannelMap) {
        guard isWanted, !isRunning, let parameters else { return }
        interval = parameters.v1.intervalMin
        (phy, txPower, self.map) = (set.parameters.secondaryPHY, set.txPower, map)
        accessAddress = AccessAddress.random(random)
        crcInit = UInt32(truncatingIfNeeded: random.next() >> 40)
        counter = UInt16(truncatingIfNeeded: random.next() >> 48)
        selection = ChannelSelection2(accessAddress: accessAddress)
        secondary = SecondaryChannels(identifier: accessAddress)
        secondary.map = map
        subevent = 0
        responses = parameters.timing.subevents > 0 ? respondable(parameters.timing) : nil
        anchor = loop.now + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
        wait()
        askForFirstData()
    }

    /// The access address of responses is another one than that of the train.
    private func respondable(_ timing: LESubeventTiming) -> ResponseTiming {
        ResponseTiming(accessAddress: AccessAddress.random(random), timing: timing)
    }

    /// Ends the train; what is on the air is still sent.
    func stop() {
        state = .off
        if let timer { loop.cancel(timer) }
        timer = nil
        subeventData = [:]
        arbiter.remove(self)
        giveUp()
    }

    /// What AUX_ADV_IND that begins at an instant says of the train; nil while there is none.
    func syncInfo(from start: Instant) -> SyncInfo? {
        guard isRunning else { return nil }
        let next = event(after: start + .microseconds(Self.leadTime))
        return syncInfo(at: next.counter, offset: (next.anchor - start).microseconds)
    }

    /// The first event that begins at an instant or later.
    func event(after instant: Instant) -> (anchor: Instant, counter: UInt16) {
        guard let period, anchor < instant else { return (anchor, counter) }
        let events = ((instant - anchor).microseconds + period - 1) / period
        return (anchor + .microseconds(events * period), counter &+ UInt16(truncatingIfNeeded: events))
    }

    /// The train by one of its events, so many microseconds behind what the offset is counted from.
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
        // The first PDU is where its counter says; where the others are, the one before tells.
        parts[0].channel = selection.channel(counter: counter, map: map)
        // An event that has no time is left out; the next one is where it would have been.
        guard arbiter.isFree(segment.duration, from: loop.now, for: self), arbiter.claim(self) else {
            return endEvent()
        }
        send(step: 0)
    }

    /// AUX_SYNC_IND and what is chained to it.
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

    /// The extended header of each first PDU.
    var header: ExtendedHeader {
        var header = ExtendedHeader()
        if parameters?.v1.properties.contains(.includeTxPower) ?? false { header.txPower = txPower }
        return header
    }

    /// How long an event takes, in microseconds.
    func eventTime(on phy: LEPHY) -> Int64 {
        self.phy = isRunning ? self.phy : phy
        var channels = SecondaryChannels(identifier: 0)
        return segment(&channels).duration
    }

    private func send(step: Int) {
        guard arbiter.claim(self) else { return endEvent() }
        state = .sending(step: step)
        send(parts[step].pdu, on: parts[step].channel)
    }

    func send(_ pdu: [UInt8], on channel: UInt8) {
        let frame = RadioFrame(
            channel: channel,
            accessAddress: accessAddress,
            crcInit: crcInit,
            phy: phy.radioPHY,
            pdu: pdu
        )
        arbiter.node.send(frame, power: Double(txPower))
    }

    /// Goes on to the next event, or subevent.
    func endEvent() {
        guard isRunning else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
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

    func radioHeardStart() {
        guard case .subevent = state else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    func radioReceived(_ frame: ReceivedFrame) {
        if case .subevent(let stage) = state { subeventReceived(frame, stage) }
    }

    func radioTaken() {
        switch state {
        case .sending, .pausing: endEvent()
        case .subevent(let stage): subeventTaken(stage)
        case .off, .waiting: break
        }
    }

    func radioFree() {}
}

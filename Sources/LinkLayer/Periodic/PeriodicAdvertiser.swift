import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The services that a periodic advertiser needs from its controller, and its callbacks.
protocol PeriodicAdvertiserOwner: AnyObject {
    /// Called when there is space for the data of `count` subevents, starting with `first`.
    func train(_ train: PeriodicAdvertiser, wantsDataFrom first: UInt8, count: UInt8)
    /// Called with the responses received in a subevent.
    func train(_ train: PeriodicAdvertiser, reports report: LEPeriodicAdvertisingResponseReport)
    /// Returns the connection request to send, which ends at `end`; nil if no connection is allowed.
    func train(_ train: PeriodicAdvertiser, prepares wish: ConnectionWish, endingAt end: Instant) -> ConnectIndication?
    /// Called when a connection request has been answered.
    func train(
        _ train: PeriodicAdvertiser,
        requested request: ConnectIndication,
        for wish: ConnectionWish,
        _ start: LinkStart
    )
    func train(_ train: PeriodicAdvertiser, failed wish: ConnectionWish)
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

    var priority: RadioPriority { .periodic }
    let share: RadioShare
    var period: Int64? { Int64(interval) * SyncInfo.intervalUnit }

    /// The parameters set by the host; nil if it has set none.
    var parameters: LESetPeriodicAdvertisingParametersV2?
    /// The advertising data, which may change at any time.
    var data = AdvertisingSet.HostData()
    /// Whether the host has enabled the train.
    var isWanted = false

    private(set) var accessAddress: UInt32 = 0
    private(set) var crcInit: UInt32 = 0
    /// paEventCounter of the event being prepared or in progress, and its start.
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

    // State of a train with responses.
    /// The subevents and response slots; nil for a train without responses.
    private(set) var responses: ResponseTiming?
    /// The subevent being prepared or in progress.
    private(set) var subevent: UInt8 = 0
    /// The data supplied for the next occurrence of each subevent.
    var subeventData: [UInt8: LESubeventData] = [:]
    /// The pending connection request, which replaces the data of its subevent.
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

    var isRunning: Bool {
        if case .off = state { return false }
        return true
    }

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
        secondary.map = map
        subevent = 0
        responses = parameters.timing.subevents > 0 ? respondable(parameters.timing) : nil
        anchor = loop.now + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
        wait()
        askForFirstData()
    }

    /// Returns the response timing with a random access address, distinct from that of the train.
    private func respondable(_ timing: LESubeventTiming) -> ResponseTiming {
        ResponseTiming(accessAddress: AccessAddress.random(random), timing: timing)
    }

    /// Stops the train. A PDU on the air is still sent.
    func stop() {
        state = .off
        if let timer { loop.cancel(timer) }
        timer = nil
        subeventData = [:]
        arbiter.remove(self)
        giveUp()
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
    var header: ExtendedHeader {
        var header = ExtendedHeader()
        if parameters?.v1.properties.contains(.includeTxPower) ?? false { header.txPower = txPower }
        return header
    }

    /// Returns the duration of an event, in microseconds. For a train that is not running, adopts `phy` as its PHY.
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

    /// Moves on to the next event or subevent.
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

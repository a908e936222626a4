import BluetoothTypes
import EventLoops
import HCI
import Radio

/// Periodic advertising of one set (Core Vol 6 Part B 4.4.2.12): AUX_SYNC_IND at fixed times, with what is chained to it. It
/// begins with the advertising of the set, which tells where it is, and goes on without.
final class PeriodicAdvertiser: RadioUser {
    private enum State {
        case off
        /// The next event is due at the timer.
        case waiting
        /// A PDU of the event is on the air.
        case sending(step: Int)
        /// A PDU of the event is due at the timer.
        case pausing(step: Int)
    }

    /// What an AUX_ADV_IND at least comes before the AUX_SYNC_IND that it tells of, in microseconds: the longest PDU of the
    /// PHYs without coding, and time to turn round.
    private static let leadTime: Int64 = 3_000

    var priority: RadioPriority { .periodic }
    let share: RadioShare
    var period: Int64? { Int64(interval) * SyncInfo.intervalUnit }

    /// The parameters as the host gave them; nil before it has.
    var parameters: LESetPeriodicAdvertisingParameters?
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
    private var txPower: Int8 = 0
    private var selection = ChannelSelection2(accessAddress: 0)
    private var secondary = SecondaryChannels(identifier: 0)
    private var state = State.off
    private var timer: ScheduledTask?
    private var parts: [AuxiliarySegment.Part] = []
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let random: RandomSource
    private let accuracy: ClockAccuracy

    init(set: UInt8?, arbiter: RadioArbiter, loop: any EventLoop, random: RandomSource, accuracy: ClockAccuracy) {
        share = arbiter.share(of: .advertising(set: set))
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
        interval = parameters.intervalMin
        (phy, txPower, self.map) = (set.parameters.secondaryPHY, set.txPower, map)
        accessAddress = AccessAddress.random(random)
        crcInit = UInt32(truncatingIfNeeded: random.next() >> 40)
        counter = UInt16(truncatingIfNeeded: random.next() >> 48)
        selection = ChannelSelection2(accessAddress: accessAddress)
        secondary = SecondaryChannels(identifier: accessAddress)
        secondary.map = map
        anchor = loop.now + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
        wait()
    }

    /// Ends the train; what is on the air is still sent.
    func stop() {
        state = .off
        if let timer { loop.cancel(timer) }
        timer = nil
        arbiter.remove(self)
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
        arbiter.reserve(self, at: anchor)
        timer = loop.schedule(at: anchor) { [unowned self] in
            timer = nil
            beginEvent()
        }
    }

    private func beginEvent() {
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
        var header = ExtendedHeader()
        if parameters?.properties.contains(.includeTxPower) ?? false { header.txPower = txPower }
        return AuxiliarySegment(
            mode: .nonConnectable,
            header: header,
            data: data.bytes,
            phy: phy,
            isPrecise: accuracy.partsPerMillion <= 50,
            channels: &channels
        )
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
        let frame = RadioFrame(
            channel: parts[step].channel,
            accessAddress: accessAddress,
            crcInit: crcInit,
            phy: phy.radioPHY,
            pdu: parts[step].pdu
        )
        arbiter.node.send(frame, power: Double(txPower))
    }

    private func endEvent() {
        if let timer { loop.cancel(timer) }
        timer = nil
        counter &+= 1
        anchor = anchor + .microseconds(Int64(interval) * SyncInfo.intervalUnit)
        wait()
        arbiter.release(self)
    }

    // MARK: Radio

    func radioSent() {
        guard case .sending(let step) = state else { return }
        guard step + 1 < parts.count else { return endEvent() }
        state = .pausing(step: step + 1)
        timer = loop.schedule(at: anchor + .microseconds(parts[step + 1].start)) { [unowned self] in
            timer = nil
            send(step: step + 1)
        }
    }

    func radioHeardStart() {}

    func radioReceived(_ frame: ReceivedFrame) {}

    func radioTaken() {
        switch state {
        case .sending, .pausing: endEvent()
        case .off, .waiting: break
        }
    }

    func radioFree() {}
}

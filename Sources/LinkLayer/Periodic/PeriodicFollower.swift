import BluetoothTypes
import EventLoops
import HCI
import Radio

/// A train that is to be followed, as far as it is known before its first PDU has been heard.
struct PeriodicTrain {
    /// Who advertises: the identity if the address was resolved.
    var advertiser: BluetoothAddress
    /// The address on the air.
    var address: BluetoothAddress
    var sid: UInt8
    var phy: LEPHY
    var sync: SyncInfo
    /// When the AUX_SYNC_IND with ``SyncInfo/counter`` begins at the earliest.
    var anchor: Instant
    /// By what that is reckoned: when somebody was heard, and how good his clock is.
    var reckonedAt: Instant
    var uncertainty: ClockAccuracy
}

/// How a train is followed.
struct PeriodicRules {
    /// Events that may be left out behind one that was heard.
    var skip: UInt16
    /// After how long without the train it is lost.
    var timeout: Duration
    /// Whether the host is told of the data.
    var reports: Bool
}

/// What a follower tells.
protocol PeriodicFollowerOwner: AnyObject {
    /// The first PDU of the train has come.
    func followerEstablished(_ follower: PeriodicFollower)
    /// None of the first events was heard, or the train has been lost.
    func followerLost(_ follower: PeriodicFollower)
    /// Data of the train, or a part of them.
    func follower(_ follower: PeriodicFollower, reports report: LEPeriodicAdvertisingReport)
}

/// Follows one train of AUX_SYNC_IND (Core Vol 6 Part B 4.4.3.4).
final class PeriodicFollower: RadioUser {
    /// Events without a PDU after which a train that was never heard is given up (4.4.3.4).
    static let maximumAttempts = 6
    /// Octets of data that one report has room for (Core Vol 4 Part E 7.7.65.15).
    static let reportSize = 247
    /// PDUs behind AUX_SYNC_IND that are followed at most: more than the data that a train may have need.
    static let maximumChain = AuxiliaryTrail.maximumPDUs

    private enum State {
        case off
        /// The next event begins at the timer.
        case waiting
        /// AUX_SYNC_IND is listened for.
        case listening
        /// AUX_CHAIN_IND is due, so many PDUs behind the first.
        case pausing(Chain)
        case chained(Chain)
    }

    private struct Chain {
        var pointer: AuxiliaryPointer
        var origin: Instant
        var count: Int
    }

    var priority: RadioPriority { .periodic }
    let share: RadioShare
    var period: Int64? { Int64(train.sync.interval) * SyncInfo.intervalUnit }

    let handle: UInt16
    let train: PeriodicTrain
    var rules: PeriodicRules
    private(set) var isEstablished = false
    /// paEventCounter of the event that is prepared or running, when it begins, and how much later it may.
    private(set) var counter: UInt16
    private(set) var anchor: Instant
    private var window: Int64
    /// When the train was heard last, and its counter then.
    private(set) var lastHeard: Instant
    private(set) var lastCounter: UInt16
    private var attempts = 0
    private var state = State.off
    private var timer: ScheduledTask?
    private var supervision: ScheduledTask?
    private var data: PacketBuffer = []
    private var txPower: Int8?
    private var rssi: Int8 = 127
    private let selection: ChannelSelection2
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let accuracy: ClockAccuracy
    private unowned let owner: any PeriodicFollowerOwner

    init(
        _ train: PeriodicTrain,
        _ rules: PeriodicRules,
        handle: UInt16,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        accuracy: ClockAccuracy,
        owner: any PeriodicFollowerOwner
    ) {
        (self.train, self.rules, self.handle) = (train, rules, handle)
        (self.arbiter, self.loop, self.accuracy, self.owner) = (arbiter, loop, accuracy, owner)
        share = arbiter.share(of: .scanning)
        selection = ChannelSelection2(accessAddress: train.sync.accessAddress)
        (counter, lastCounter) = (train.sync.counter, train.sync.counter)
        (anchor, window, lastHeard) = (train.anchor, train.sync.unit, train.reckonedAt)
    }

    /// Prepares the first event that is not over.
    func start() {
        while beginning < loop.now { advance(by: 1) }
        wait()
    }

    /// Follows the train no longer.
    func stop() {
        state = .off
        for task in [timer, supervision].compactMap({ $0 }) { loop.cancel(task) }
        (timer, supervision) = (nil, nil)
        arbiter.remove(self)
    }

    // MARK: Between events

    /// By how much earlier and later than expected to listen (4.2.4).
    private var widening: Int64 {
        let other = isEstablished ? train.sync.accuracy : train.uncertainty
        let widening = ClockAccuracy.widening(accuracy, other, since: anchor - lastHeard)
        return min(widening, Int64(train.sync.interval) * SyncInfo.intervalUnit / 2 - LinkTiming.interFrameSpace)
    }

    private var beginning: Instant { anchor - .microseconds(widening) }

    private func wait() {
        state = .waiting
        arbiter.reserve(self, at: beginning)
        timer = loop.schedule(at: beginning) { [unowned self] in
            timer = nil
            beginEvent()
        }
    }

    private func advance(by events: Int) {
        counter &+= UInt16(truncatingIfNeeded: events)
        anchor = anchor + .microseconds(Int64(events) * Int64(train.sync.interval) * SyncInfo.intervalUnit)
    }

    private func beginEvent() {
        guard arbiter.claim(self) else { return endEvent(wasHeard: false) }
        (data, txPower) = ([], nil)
        listen(on: selection.channel(counter: counter, map: train.sync.map), phy: train.phy)
        state = .listening
        deadline(at: anchor + .microseconds(window + widening))
    }

    private func listen(on channel: UInt8, phy: LEPHY) {
        arbiter.node.sleep()
        arbiter.node.listen(
            RadioTuning(
                channel: channel,
                accessAddress: train.sync.accessAddress,
                crcInit: train.sync.crcInit,
                modulation: phy.radioPHY.modulation
            )
        )
    }

    private func deadline(at instant: Instant) {
        timer = loop.schedule(at: instant) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { silence() }
        }
    }

    /// Nothing has come where something should.
    private func silence() {
        if case .listening = state { return endEvent(wasHeard: false) }
        truncate()
    }

    private func truncate() {
        report(.truncated)
        endEvent(wasHeard: true)
    }

    private func endEvent(wasHeard: Bool) {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard !isOff else { return }
        if !wasHeard, !isEstablished {
            attempts += 1
            if attempts >= Self.maximumAttempts { return owner.followerLost(self) }
        }
        advance(by: wasHeard ? 1 + Int(rules.skip) : 1)
        wait()
        arbiter.release(self)
    }

    private var isOff: Bool {
        if case .off = state { return true }
        return false
    }

    private func supervise() {
        guard supervision == nil else { return }
        supervision = loop.schedule(at: lastHeard + rules.timeout) { [unowned self] in
            supervision = nil
            if lastHeard + rules.timeout > loop.now { return supervise() }
            owner.followerLost(self)
        }
    }

    // MARK: Radio

    func radioSent() {}

    func radioHeardStart() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    func radioReceived(_ frame: ReceivedFrame) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch state {
        case .listening:
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else {
                return endEvent(wasHeard: false)
            }
            heard(frame)
            take(body, frame, count: 0)
        case .chained(let chain):
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else { return truncate() }
            take(body, frame, count: chain.count)
        case .off, .waiting, .pausing:
            break
        }
    }

    /// The anchor point is where the first PDU begins.
    private func heard(_ frame: ReceivedFrame) {
        (anchor, lastHeard, lastCounter, window, attempts) = (frame.start, frame.start, counter, 0, 0)
        if !isEstablished {
            isEstablished = true
            owner.followerEstablished(self)
        }
        if !isOff { supervise() }
    }

    private func take(_ body: ExtendedAdvertisement, _ frame: ReceivedFrame, count: Int) {
        // Whoever was told of the first PDU may have had enough.
        guard !isOff else { return }
        rssi = frame.rssi
        txPower = body.extended.txPower ?? txPower
        let room = ExtendedAdvertisement.maximumData - data.count
        data.append(contentsOf: body.data.prefix(upTo: room))
        guard body.data.count <= room else { return truncate() }
        guard let pointer = body.extended.pointer, pointer.offset > 0 else {
            report(.complete)
            return endEvent(wasHeard: true)
        }
        guard pointer.isUsable(behind: frame.frame.airTimeMicroseconds), count < Self.maximumChain else {
            return truncate()
        }
        follow(Chain(pointer: pointer, origin: frame.start, count: count + 1))
    }

    private func follow(_ chain: Chain) {
        let slack = ClockAccuracy.widening(accuracy, train.sync.accuracy, since: .microseconds(chain.pointer.offset))
        let start = chain.origin + .microseconds(chain.pointer.offset - slack)
        state = .pausing(chain)
        timer = loop.schedule(at: start) { [unowned self] in
            timer = nil
            guard arbiter.claim(self), let phy = chain.pointer.phy else { return truncate() }
            state = .chained(chain)
            listen(on: chain.pointer.channel, phy: phy)
            deadline(at: chain.origin + .microseconds(chain.pointer.offset + chain.pointer.unit + slack))
        }
    }

    func radioTaken() {
        switch state {
        case .listening: endEvent(wasHeard: false)
        case .pausing, .chained: truncate()
        case .off, .waiting: break
        }
    }

    func radioFree() {}

    // MARK: Reports

    /// Tells the host what has come, in as many pieces as it takes.
    private func report(_ status: LEPeriodicDataStatus) {
        guard rules.reports else { return }
        var rest = data
        repeat {
            let piece = rest.prefix(upTo: Self.reportSize)
            rest = rest.suffix(after: Self.reportSize)
            owner.follower(
                self,
                reports: LEPeriodicAdvertisingReport(
                    sync: handle,
                    txPower: txPower ?? 127,
                    rssi: rssi,
                    toneKind: 0xFF,
                    dataStatus: rest.isEmpty ? status : .moreToCome,
                    data: piece
                )
            )
        } while !rest.isEmpty
    }
}

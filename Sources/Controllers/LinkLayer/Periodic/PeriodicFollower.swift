import BluetoothTypes
import EventLoops
import HCI

/// A response to send in a response slot (Core Vol 4 Part E 7.8.126).
struct PeriodicResponse {
    /// paEventCounter of the event that contains the slot.
    var event: UInt16
    var subevent: UInt8
    var slot: UInt8
    var data: PacketBuffer

    /// Whether another response is for the same slot.
    func shares(_ other: PeriodicResponse) -> Bool {
        event == other.event && subevent == other.subevent && slot == other.slot
    }
}

/// Follows a train of AUX_SYNC_IND or AUX_SYNC_SUBEVENT_IND (Core Vol 6 Part B 4.4.3.4).
final class PeriodicFollower: RadioClaimant {
    /// The number of missed events after which establishing the synchronization fails (4.4.3.4).
    static let maximumAttempts = 6
    /// The maximum number of PDUs to follow after AUX_SYNC_IND: more than the maximum of advertising data requires.
    static let maximumChain = AuxiliaryTrail.maximumPDUs

    /// The maximum number of responses waiting for their slots.
    static let maximumResponses = 16

    private enum State {
        case off
        /// The next event begins when the timer fires.
        case waiting
        /// The receiver is on, for AUX_SYNC_IND.
        case listening
        /// An AUX_CHAIN_IND is due.
        case pausing(Chain)
        case chained(Chain)
        /// A response is on the air.
        case responding
        /// AUX_CONNECT_RSP is due or on the air, in response to a request that ended at `end`.
        case connecting(ConnectIndication, end: Instant)
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
    private(set) var rules: PeriodicRules
    private(set) var isEstablished = false
    /// paEventCounter of the event being prepared or in progress, its start, and how much later it may start.
    private(set) var counter: UInt16
    private(set) var anchor: Instant
    private var window: Int64
    /// When the train was last received, and its counter then.
    private var lastReception: Instant
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
    private let power: Double
    private let accuracy: ClockAccuracy
    private unowned let owner: any PeriodicFollowerOwner

    // State of a train with responses.
    /// The subevents to listen to, in order. Until the host has chosen some, the first one keeps the synchronization.
    private var subevents: [UInt8] = [0]
    private var hasChosen = false
    /// The index of the next subevent, and whether one of this event was received.
    private var place = 0
    private var hasReceived = false
    /// The subevents that the host has chosen while one was being received.
    private var choice: [UInt8]?
    /// The responses waiting for their slots.
    private var responses: [PeriodicResponse] = []
    /// The fields to include in responses.
    private var responseProperties: LEPeriodicProperties = []

    init(
        _ train: PeriodicTrain,
        _ rules: PeriodicRules,
        handle: UInt16,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        power: Double,
        accuracy: ClockAccuracy,
        owner: any PeriodicFollowerOwner
    ) {
        (self.train, self.rules, self.handle, self.power) = (train, rules, handle, power)
        (self.arbiter, self.loop, self.accuracy, self.owner) = (arbiter, loop, accuracy, owner)
        share = arbiter.share(of: .scanning)
        selection = ChannelSelection2(accessAddress: train.sync.accessAddress)
        (counter, lastCounter) = (train.sync.counter, train.sync.counter)
        (anchor, window, lastReception) = (train.anchor, train.sync.unit, train.estimatedAt)
    }

    /// Reports the data of the train to the host from now on, or no longer (Core Vol 4 Part E 7.8.88).
    func enableReports(_ isEnabled: Bool) {
        rules.reports = isEnabled
    }

    /// Schedules the first event that has not passed.
    func start() {
        while beginning < loop.now { advance() }
        wait()
    }

    func stop() {
        state = .off
        for task in [timer, supervision].compactMap({ $0 }) { loop.cancel(task) }
        (timer, supervision) = (nil, nil)
        arbiter.remove(self)
    }

    // MARK: Between events

    /// How much earlier and later than expected to listen, in microseconds (4.2.4).
    private var widening: Int64 {
        let other = isEstablished ? train.sync.accuracy : train.uncertainty
        let widening = ClockAccuracy.widening(accuracy, other, since: target - lastReception)
        let period = train.responses?.timing.start(of: 1) ?? Int64(train.sync.interval) * SyncInfo.intervalUnit
        return min(widening, period / 2 - LinkTiming.interFrameSpace)
    }

    /// The subevent being prepared or in progress.
    private var subevent: UInt8 { subevents[place] }

    private var target: Instant { anchor + .microseconds(train.responses?.timing.start(of: subevent) ?? 0) }

    private var beginning: Instant { target - .microseconds(widening) }

    /// Schedules the next reception or response.
    private func wait() {
        state = .waiting
        let response = nextResponse(before: beginning)
        let begin = response.map(time) ?? beginning
        arbiter.reserve(self, at: begin)
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            if let response { respond(response) } else { beginEvent() }
        }
    }

    /// Moves on to the next subevent to listen to, in this event or in the next one that is not skipped.
    private func advance() {
        if place + 1 < subevents.count {
            place += 1
            return
        }
        let events = hasReceived ? 1 + Int(rules.skip) : 1
        (place, hasReceived) = (0, false)
        counter &+= UInt16(truncatingIfNeeded: events)
        anchor = anchor + .microseconds(Int64(events) * Int64(train.sync.interval) * SyncInfo.intervalUnit)
    }

    /// Chooses the subevents to listen to from now on.
    func choose(_ chosen: [UInt8], _ properties: LEPeriodicProperties) {
        (choice, responseProperties) = (chosen.sorted(), properties)
        guard case .waiting = state else { return }
        if let timer { loop.cancel(timer) }
        applyChoice()
        wait()
    }

    private func applyChoice() {
        guard let choice else { return }
        (subevents, hasChosen, place, hasReceived) = (choice, true, 0, false)
        self.choice = nil
        while beginning < loop.now { advance() }
    }

    private func beginEvent() {
        guard arbiter.claim(self) else { return endEvent(wasHeard: false) }
        (data, txPower) = ([], nil)
        listen(on: channel(counter, subevent), phy: train.phy)
        state = .listening
        deadline(at: target + .microseconds(window + widening))
    }

    /// Returns the channel of an event or subevent (4.5.8.3).
    private func channel(_ counter: UInt16, _ subevent: UInt8) -> UInt8 {
        selection.channel(counter: counter ^ UInt16(subevent), map: train.sync.map)
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

    private func silence() {
        if case .listening = state { return endEvent(wasHeard: false) }
        truncate()
    }

    private func truncate() {
        report(.truncated)
        endEvent(wasHeard: true)
    }

    private func endEvent(wasHeard: Bool) {
        if let timer = timer.take() { loop.cancel(timer) }
        guard !isOff else { return }
        if !wasHeard, !isEstablished {
            attempts += 1
            if attempts >= Self.maximumAttempts { return owner.followerLost(self) }
        }
        if !wasHeard, isEstablished, hasChosen { report(.lost) }
        hasReceived = hasReceived || wasHeard
        advance()
        applyChoice()
        wait()
        arbiter.release(self)
    }

    private var isOff: Bool {
        if case .off = state { return true }
        return false
    }

    private func supervise() {
        guard supervision == nil else { return }
        supervision = loop.schedule(at: lastReception + rules.timeout) { [unowned self] in
            supervision = nil
            if lastReception + rules.timeout > loop.now { return supervise() }
            owner.followerLost(self)
        }
    }

    // MARK: Radio

    func radioSent() {
        switch state {
        case .responding: endResponse()
        case .connecting(let request, let end):
            endEvent(wasHeard: true)
            owner.follower(self, accepts: request, at: end)
        case .off, .waiting, .listening, .pausing, .chained: break
        }
    }

    func radioDetectedStart() {
        if let timer = timer.take() { loop.cancel(timer) }
    }

    func radioReceived(_ frame: ReceivedFrame) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch state {
        case .listening:
            if train.responses != nil, case .connect(let request)? = pdu { return receive(request, frame) }
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else {
                return endEvent(wasHeard: false)
            }
            receive(frame)
            receive(body, frame, count: 0)
        case .chained(let chain):
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else { return truncate() }
            receive(body, frame, count: chain.count)
        case .off, .waiting, .pausing, .responding, .connecting:
            break
        }
    }

    /// Synchronizes with a received PDU: its start is the new anchor point.
    private func receive(_ frame: ReceivedFrame) {
        anchor = frame.start - (target - anchor)
        (lastReception, lastCounter, window, attempts) = (frame.start, counter, 0, 0)
        if !isEstablished {
            isEstablished = true
            owner.followerEstablished(self)
        }
        if !isOff { supervise() }
    }

    /// Handles the advertiser's connection request (4.4.2.12).
    private func receive(_ request: ConnectIndication, _ frame: ReceivedFrame) {
        receive(frame)
        guard !isOff else { return }
        guard owner.follower(self, canAccept: request) else { return endEvent(wasHeard: true) }
        connect(request, on: frame.frame.channel)
    }

    private func receive(_ body: ExtendedAdvertisement, _ frame: ReceivedFrame, count: Int) {
        // The owner may have stopped the follower when notified of the first PDU.
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

    func radioLost() {
        switch state {
        case .listening: endEvent(wasHeard: false)
        case .pausing, .chained: truncate()
        case .responding: endResponse()
        case .connecting: endEvent(wasHeard: true)
        case .off, .waiting: break
        }
    }

    func radioFree() {}

    // MARK: Reports

    /// Reports the received data to the host, in fragments.
    private func report(_ status: LEPeriodicDataStatus) {
        // Subevents are not reported before the host has chosen some.
        guard rules.reports, train.responses == nil || hasChosen else { return }
        var rest = data
        repeat {
            let piece = rest.prefix(upTo: owner.reportSize)
            rest = rest.suffix(after: owner.reportSize)
            owner.follower(
                self,
                reports: LEPeriodicAdvertisingReport {
                    $0.sync = handle
                    $0.txPower = txPower ?? 127
                    $0.rssi = rssi
                    $0.toneKind = 0xFF
                    $0.dataStatus = rest.isEmpty ? status : .moreToCome
                    $0.data = piece
                },
                event: counter,
                subevent: train.responses == nil ? nil : subevent
            )
        } while !rest.isEmpty
    }

    // MARK: Responses and connections (4.4.2.12)

    private func time(of response: PeriodicResponse) -> Instant {
        let events = Int64(Int16(bitPattern: response.event &- counter))
        let timing = train.responses?.timing ?? LESubeventTiming()
        let offset = timing.start(of: response.subevent) + timing.start(ofSlot: response.slot)
        return anchor + .microseconds(events * Int64(train.sync.interval) * SyncInfo.intervalUnit + offset)
    }

    /// Schedules a response for its slot (Core Vol 4 Part E 7.8.126).
    func add(_ command: LESetPeriodicAdvertisingResponseData) -> HCIStatus {
        guard let layout = train.responses?.timing, subevents.contains(command.requestSubevent), hasChosen else {
            return .commandDisallowed
        }
        guard command.responseSubevent < layout.subevents, layout.hasSlot(command.slot) else {
            return .invalidParameters
        }
        guard airTime(command.data) <= layout.responseTime else { return .packetTooLong }
        // A slot that has passed in this event recurs in the next one.
        let isLater = command.responseSubevent < command.requestSubevent
        let response = PeriodicResponse(
            event: command.requestEvent &+ (isLater ? 1 : 0),
            subevent: command.responseSubevent,
            slot: command.slot,
            data: command.data
        )
        guard time(of: response) > loop.now else { return .tooLate }
        guard time(of: response) <= loop.now + .microseconds(2 * (period ?? 0)) else { return .invalidParameters }
        responses.removeAll { $0.shares(response) }
        guard responses.count < Self.maximumResponses else { return .memoryCapacityExceeded }
        responses.append(response)
        if case .waiting = state {
            if let timer { loop.cancel(timer) }
            wait()
        }
        return .success
    }

    /// Returns the first response to send before an instant, discarding those that are late.
    private func nextResponse(before instant: Instant) -> PeriodicResponse? {
        responses.removeAll { time(of: $0) < loop.now }
        return responses.min { time(of: $0) < time(of: $1) }.flatMap { time(of: $0) < instant ? $0 : nil }
    }

    private func pdu(_ data: PacketBuffer) -> [UInt8] {
        var header = ExtendedHeader()
        if responseProperties.contains(.includeTxPower) { header.txPower = Int8(clamping: Int(power)) }
        return AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: data)).encoded()
    }

    private func airTime(_ data: PacketBuffer) -> Int64 {
        train.phy.radioPHY.airTimeMicroseconds(octets: pdu(data).count)
    }

    private func respond(_ response: PeriodicResponse) {
        responses.removeAll { $0.shares(response) }
        guard let accessAddress = train.responses?.accessAddress, arbiter.claim(self) else { return endResponse() }
        state = .responding
        send(pdu(response.data), on: channel(response.event, response.subevent), accessAddress)
    }

    private func send(_ pdu: [UInt8], on channel: UInt8, _ accessAddress: UInt32) {
        arbiter.node.sleep()
        let frame = RadioFrame(
            channel: channel,
            accessAddress: accessAddress,
            crcInit: train.sync.crcInit,
            phy: train.phy.radioPHY,
            pdu: pdu
        )
        arbiter.node.send(frame, power: power)
    }

    private func endResponse() {
        guard !isOff else { return }
        wait()
        arbiter.release(self)
    }

    // MARK: Connections

    /// Responds to AUX_CONNECT_REQ, as a connectable advertiser does.
    private func connect(_ request: ConnectIndication, on channel: UInt8) {
        var header = ExtendedHeader()
        (header.advertiser, header.target) = (request.advertiser, request.initiator)
        let answer = AdvertisingPDU.connectResponse(.init(mode: .nonConnectable, extended: header)).encoded()
        state = .connecting(request, end: loop.now)
        timer = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            timer = nil
            send(answer, on: channel, train.sync.accessAddress)
        }
    }
}

/// How to follow a train.
struct PeriodicRules {
    /// The number of events that may be skipped after one that was received.
    var skip: UInt16
    /// The time without reception after which the synchronization is lost.
    var timeout: Duration
    /// Whether the data are reported to the host.
    var reports: Bool
}

/// The services that a follower needs from its owner, and its callbacks.
protocol PeriodicFollowerOwner: AnyObject {
    /// Called when the first PDU of the train has been received.
    func followerEstablished(_ follower: PeriodicFollower)
    /// Called when none of the first events was received, or when the synchronization is lost.
    func followerLost(_ follower: PeriodicFollower)
    /// The maximum length of the data in one report, in octets (Core Vol 4 Part E 7.7.65.15).
    var reportSize: Int { get }
    /// Called with data of the train, in whole or in part, and with paEventCounter of the event and the subevent, if
    /// there is one.
    func follower(
        _ follower: PeriodicFollower,
        reports report: LEPeriodicAdvertisingReport,
        event: UInt16,
        subevent: UInt8?
    )
    /// Whether the advertiser's connection request in a subevent can be accepted.
    func follower(_ follower: PeriodicFollower, canAccept request: ConnectIndication) -> Bool
    /// Called when AUX_CONNECT_RSP has been sent, in response to a request that ended at `end`.
    func follower(_ follower: PeriodicFollower, accepts request: ConnectIndication, at end: Instant)
}

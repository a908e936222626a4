import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// A connection, with its anchor points, its events on the radio and its transmit queue (Core Vol 6 Part B 4.5).
///
/// It drives the state machines ``ConnectionEvent``, ``Acknowledgement``, ``TransmitQueue`` and ``LinkControl``.
final class Link: RadioClaimant {
    /// How late a PDU may start after an inter frame space, in microseconds: 2 for the active clocks (Core Vol 6 Part B
    /// 4.2.1), and what a receiver needs for detection.
    static let responseMargin: Int64 = 4

    let parameters: Parameters
    private let arbiter: RadioArbiter
    private let shares: LinkShares
    private let loop: any EventLoop
    /// The loop, if its time is virtual.
    private let virtualLoop: VirtualEventLoop?
    private unowned let owner: any LinkOwner

    private(set) var control: LinkControl
    private(set) var queue = TransmitQueue()
    private(set) var acknowledgement = Acknowledgement()
    private(set) var ciphers: LinkCiphers
    private(set) var payloadWatch = PayloadWatch()
    private(set) var stage = LinkStage.new
    private(set) var anchors: AnchorPoints
    private(set) var hopping: ChannelHopping
    private(set) var subrating = LinkSubrating()
    /// How to handle periodic advertising trains that the peer transfers.
    private(set) var transferRules: SyncTransferRules
    /// The strength of the last correctly received PDU, in dBm.
    private(set) var rssi: Int8 = 127
    private(set) var ending: LinkEnding?
    /// The rest of the last PDU for which the host has had no buffer yet. There is never more than one PDU.
    private(set) var held: (payload: PacketBuffer, isStart: Bool)?
    /// The coding used for transmission on the Coded PHY.
    private var codedPHY = RadioPHY.codedS8
    /// The number of events in a row in which the peer was not received.
    private(set) var missed = 0
    /// The MD bit of the last received PDU.
    private var peerHasMore = false
    /// The longest payload that the peer may ever have been allowed to send.
    private var acceptedOctets = Int(DataLength.minimumOctets)
    private var supervision: LinkSupervision
    private var procedureTimer = ProcedureTimer()
    /// The procedures of Channel Sounding in progress.
    private var sounder: Sounder?
    /// The number of the host's packets that have not been reported as completed.
    private var owedPackets = 0
    /// The number of the event that began last.
    private var lastEvent = -1

    init(
        _ parameters: Parameters,
        control: LinkControl,
        transferRules: SyncTransferRules,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        owner: any LinkOwner
    ) {
        self.parameters = parameters
        self.control = control
        self.transferRules = transferRules
        self.arbiter = arbiter
        shares = LinkShares(of: parameters.handle, at: arbiter)
        self.loop = loop
        virtualLoop = loop as? VirtualEventLoop
        self.owner = owner
        hopping = parameters.hopping
        ciphers = LinkCiphers(isCentral: parameters.role == .central)
        anchors = AnchorPoints(parameters)
        supervision = LinkSupervision(since: parameters.start.end)
    }

    var isEstablished: Bool { supervision.isEstablished }
    var lastReception: Instant { supervision.lastReception }
    var txPHY: RadioPHY { control.txPHY.radioPHY(coding: codedPHY) }
    var rxPHY: RadioPHY { control.rxPHY.radioPHY(coding: codedPHY) }

    var share: RadioShare { shares.listening }
    /// A link that has heard nothing for half of its supervision timeout is in danger.
    var priority: RadioPriority {
        let isInDanger = supervision.isInDanger(at: loop.now, control.timing)
        return .connection(urgency: missed + (isInDanger ? RadioPriority.danger : 0))
    }

    // MARK: Start and end

    /// Starts the supervision and schedules the first event.
    func start() {
        supervise(until: supervision.deadline(control.timing))
        if isCentral { arbiter.node.radio.set(central: self, of: parameters.data.accessAddress) }
        prepareEvent()
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds when an event begins or ends, and after each
    /// frame.
    private var brokenInvariant: String? {
        guard owedPackets == queue.packetCount else {
            return "\(queue.packetCount) packets are queued, and the host waits for \(owedPackets)"
        }
        let hasSupervision = supervision.isRunning
        switch stage {
        case .new: return nil
        case .waiting: return hasSupervision ? nil : "nothing supervises a link between its events"
        case .awake: return arbiter.owner === self ? nil : "a link without the radio has an event in progress"
        case .ended:
            let isIdle = !hasSupervision && !procedureTimer.isRunning && held == nil && arbiter.owner !== self
            return isIdle ? nil : "a link that has ended has a timer, data or the radio"
        }
    }

    /// Ends the link at once, without notifying the peer or the host.
    func drop() {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        if let timer = stage.timer { loop.cancel(timer) }
        if isCentral { arbiter.node.radio.set(central: nil, of: parameters.data.accessAddress) }
        stage = .ended
        supervision.stop(on: loop)
        procedureTimer.stop(on: loop)
        payloadWatch.stop(on: loop)
        stopSounding()
        arbiter.node.radio.endSounding(parameters.data.accessAddress)
        held = nil
        arbiter.remove(self)
        arbiter.retire(handle)
    }

    private func end(_ reason: HCIStatus) {
        drop()
        owner.link(self, endedWith: reason)
    }

    private func supervise(until deadline: Instant) {
        supervision.restart(at: deadline, on: loop) { [unowned self] in
            supervision.fire()
            // An event in progress may still receive the peer, so it decides when it closes (4.5.2).
            if !stage.isAwake { resumeSupervision() }
        }
    }

    /// Restarts the timer after it has fired, or ends the link if it was silent for too long.
    private func resumeSupervision() {
        let deadline = supervision.deadline(control.timing)
        if deadline > loop.now { return supervise(until: deadline) }
        end(ending?.reason ?? (isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished))
    }

    /// Restarts the supervision timer, so that a shorter timeout takes effect at once.
    private func restartSupervision() {
        supervise(until: max(supervision.deadline(control.timing), loop.now))
    }

    // MARK: Commands of the host

    /// Queues a data packet of the host.
    func send(_ payload: PacketBuffer, isStart: Bool) {
        queue.add(payload, isStart: isStart)
        owedPackets += 1
        listenSooner()
    }

    /// Starts or queues a control procedure. Returns false if too many are queued already.
    func request(_ request: LinkControl.Request) -> Bool {
        carryOut(control.request(request))
    }

    /// Requests a change of PHYs, and uses this coding whenever the Coded PHY is used for transmission. Returns false
    /// if too many procedures are queued already.
    func requestPHY(tx: LEPHYs, rx: LEPHYs, coding: RadioPHY) -> Bool {
        guard request(.phy(tx: tx, rx: rx)) else { return false }
        codedPHY = coding
        return true
    }

    /// Requests encryption with a key, as central. Returns false if too many procedures are queued already.
    func requestEncryption(key: Key128, random: UInt64, diversifier: UInt16) -> Bool {
        carryOut(control.requestEncryption(key: key, random: random, diversifier: diversifier))
    }

    /// Answers the request for a key, as peripheral; nil if the host has none. Returns false if the host was not asked.
    func answerKeyRequest(_ key: Key128?) -> Bool {
        carryOut(control.answer(key: key))
    }

    /// Accepts the peer's request for connection parameters. Returns false if the host was not asked.
    func acceptParameters(_ parameters: ConnectionParameterRequest) -> Bool {
        carryOut(control.accept(parameters))
    }

    /// Declines the peer's request for connection parameters. Returns false if the host was not asked.
    func declineParameters(_ reason: HCIStatus) -> Bool {
        carryOut(control.decline(reason))
    }

    private func carryOut(_ actions: [LinkControl.Action]?) -> Bool {
        guard let actions else { return false }
        perform(actions)
        return true
    }

    /// Changes the authenticated payload timeout, in units of 10 ms, and restarts it.
    func restartPayloadWatch(timeout: UInt16) {
        payloadWatch.stop(on: loop)
        payloadWatch = PayloadWatch(timeout: timeout)
        startPayloadWatch()
    }

    /// Handles periodic advertising trains by these rules from now on.
    func handleTransfers(by rules: SyncTransferRules) {
        transferRules = rules
    }

    // MARK: Channel Sounding

    func setSounding(_ parameters: LECSSetProcedureParameters) { control.setSounding(parameters) }
    func setSounding(remote capabilities: LESoundingCapabilities) { control.setSounding(remote: capabilities) }
    func setSounding(roles: LESoundingRoles) { control.setSounding(roles: roles) }

    /// Creates a configuration without the peer, and reports it.
    func createSounding(_ settings: LESoundingConfiguration, config: UInt8) {
        control.createSounding(settings, config: config)
        owner.link(self, reports: .sounding(.configuration(.success, config: config, settings)))
    }

    private func startSounding(_ schedule: SoundingSchedule) {
        stopSounding()
        let config = schedule.indication.config
        sounder = Sounder(
            schedule,
            of: self,
            arbiter: arbiter,
            loop: loop,
            share: shares.control,
            onReport: { [unowned self] report in
                control.noteSounding(procedures: report.procedure &+ 1)
                owner.link(self, sounded: report, config: config)
            },
            onEnd: { [unowned self] random in
                control.soundingEnded(random)
                stopSounding()
            }
        )
    }

    private func stopSounding() {
        sounder?.stop()
        sounder = nil
    }

    // MARK: The content of PDUs

    /// Processes a PDU with a correct CRC: the acknowledgement in its header first, then its payload.
    private func receive(_ header: DataHeader, _ payload: PacketBuffer) {
        let outcome = acknowledgement.receive(
            sequence: header.sequence,
            nextExpected: header.nextExpected,
            hasRoom: hasRoom(for: header.content, payload)
        )
        if outcome.isAcknowledged { complete() }
        guard outcome.isNew, stage.isAwake else { return }
        guard let payload = open(header, payload) else { return end(.terminatedByMICFailure) }
        deliver(header.content, payload)
    }

    /// Whether a new PDU can be accepted. This throttles a peer that sends requests without accepting the responses,
    /// and one that sends more than the host can buffer (AB-L05, AB-L09).
    private func hasRoom(for content: DataHeader.Content, _ payload: PacketBuffer) -> Bool {
        switch content {
        case .control: queue.hasRoom && control.hasRoom
        case .reserved: true
        case .start, .continuation: payload.isEmpty || takesData
        }
    }

    /// Whether received data can be accepted. While the link is being terminated, data are accepted and discarded.
    private var takesData: Bool { ending != nil || held == nil && owner.hostRoom != nil }

    private func complete() {
        guard let outgoing = queue.acknowledged() else { return }
        if outgoing.endsPacket {
            owedPackets -= 1
            owner.link(self, completed: 1)
        }
        if outgoing.content == .control, outgoing.payload.first == ControlOpcode.subrateInd.rawValue {
            return perform(control.subrateAcknowledged())
        }
        let isTermination = outgoing.payload.first == ControlOpcode.terminateInd.rawValue
        guard outgoing.content == .control, isTermination, case .awaitsAcknowledgement(let reason) = ending else {
            return
        }
        end(reason)
    }

    private func deliver(_ content: DataHeader.Content, _ payload: PacketBuffer) {
        // AB-L07: data that cannot come from an honest peer are not delivered.
        guard content == .control || payload.isEmpty || control.admitsData else { return end(.terminatedByMICFailure) }
        switch content {
        case .reserved:
            // AB-L01: the PDU has been acknowledged, so that the link continues; its payload is ignored.
            break
        case .control:
            perform(control.receive(payload))
        case .start, .continuation:
            // Empty PDUs contain no data, and nothing is delivered while the link is being terminated.
            guard !payload.isEmpty, ending == nil else { return }
            held = (payload, content == .start)
            passOn()
        }
    }

    /// Passes held data to the host as its buffers allow.
    func passOn() {
        while let (payload, isStart) = held, ending == nil, let room = owner.hostRoom {
            let rest = payload.suffix(after: room)
            held = rest.isEmpty ? nil : (rest, false)
            owner.link(self, received: payload.prefix(upTo: room), isStart: isStart)
        }
    }

    func perform(_ actions: [LinkControl.Action]) {
        for action in actions { perform(action) }
        updateProcedureTimer()
    }

    private func perform(_ action: LinkControl.Action) {
        switch action {
        case .send(let pdu): add(pdu, ending: pdu.opcode == .terminateInd ? .localHostTerminated : nil)
        case .terminate(let reason): add(.terminate(.init(reason)), ending: reason)
        case .hold: queue.hold()
        case .release: queue.release()
        case .transmit(let session): ciphers.encrypt(with: session)
        case .receive(let session):
            ciphers.decrypt(with: session)
            payloadWatch.stop(on: loop)
            startPayloadWatch()
        case .report(let report):
            acceptedOctets = max(acceptedOctets, Int(control.dataLength.rxOctets))
            owner.link(self, reports: report)
        case .announceSubrate(let pdu): subrating.announce(pdu, near: anchors.event)
        case .applySubrate(let pdu):
            subrating.apply(pdu, near: anchors.event)
            restartSupervision()
        case .startSounding(let schedule): startSounding(schedule)
        case .stopSounding: stopSounding()
        case .trainTransferred(let pdu): owner.link(self, heardOf: pdu)
        case .applyTiming(let pdu):
            if control.subrate.factor == 1 { subrating.end() }
            anchors.move(pdu)
            // The time before the instant does not count towards the new timeout (5.1.1).
            supervision.reset(at: anchors.anchor)
            restartSupervision()
        case .applyChannelMap(let map): hopping.restrict(to: map)
        case .applyPeerAccuracy(let accuracy): anchors.trust(accuracy)
        case .end(let reason): end(reason)
        case .endAfterAnswer(let reason):
            if case .answered = ending { ending = .answered(reason) } else { ending = .owesAnswer(reason) }
        }
    }

    /// Queues a control PDU, unless the link is being terminated. With a reason, the PDU terminates it.
    private func add(_ pdu: ControlPDU, ending reason: HCIStatus?) {
        guard ending == nil else { return }
        queue.add(control: pdu.encoded())
        if let reason { awaitTermination(reason) }
        listenSooner()
    }

    /// If the peer never acknowledges LL_TERMINATE_IND, the link ends after the supervision timeout (5.1.6).
    private func awaitTermination(_ reason: HCIStatus) {
        ending = .awaitsAcknowledgement(reason)
        procedureTimer.restart(after: control.timing.timeoutDuration, on: loop) { [unowned self] in end(reason) }
    }

    private func updateProcedureTimer() {
        if case .awaitsAcknowledgement = ending { return }
        guard control.awaitsPeer, ending == nil, !stage.hasEnded else { return procedureTimer.stop(on: loop) }
        procedureTimer.awaitResponse(control.progress, on: loop) { [unowned self] in
            procedureTimer.stop(on: loop)
            perform(control.timeout())
        }
    }

    // MARK: Encryption

    /// Decrypts a new PDU; nil if it is forged (Core Vol 6 Part B 5.1.3; AB-L08). Empty PDUs are not encrypted.
    private func open(_ header: DataHeader, _ payload: PacketBuffer) -> PacketBuffer? {
        guard ciphers.decrypts, !payload.isEmpty else { return payload }
        guard let opened = ciphers.open(payload, header: header.authenticated) else { return nil }
        payloadWatch.packetReceived(at: loop.now)
        return opened
    }

    /// Starts the authenticated payload timeout (5.4) if it applies.
    private func startPayloadWatch() {
        guard ciphers.decrypts, control.setup.features.contains(.ping) else { return }
        payloadWatch.start(control.timing, on: loop) { [unowned self] in payloadIsDue() }
    }

    private func payloadIsDue() {
        switch payloadWatch.timerFired(control.timing, on: loop, due: { [unowned self] in payloadIsDue() }) {
        case .none: break
        case .report: owner.supervisionTimedOut(self)
        case .ping: if ending == nil { _ = request(.ping) }
        }
    }

    // MARK: Between events

    /// Schedules the event at ``anchor``, after `skipped` skipped events.
    private func prepareEvent(skipping skipped: Int = 0) {
        let start = anchors.start(control.timing)
        arbiter.reserve(self, at: start)
        stage = .waiting(loop.schedule(at: start) { [unowned self] in beginEvent() }, skipped: skipped)
    }

    private func beginEvent() {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        if passQuietEvents() { return }
        perform(control.begin(counter: counter))
        // The control procedures may have ended the link.
        guard case .waiting(_, let skipped) = stage else { return }
        // A change of timing may just have moved this event to a later time.
        if anchors.start(control.timing) > loop.now { return prepareEvent(skipping: skipped) }
        hopping.hop(counter: counter)
        assert(anchors.event > lastEvent, "an event begins twice, or after a later one")
        lastEvent = anchors.event
        // An event that starts late counts as missed, as does one that would make a more urgent link miss its own.
        guard loop.now <= anchor, !arbiter.isNeeded(within: firstExchange, by: self), arbiter.claim(self)
        else { return finishEvent(wasHeard: false) }
        stage = .awake(LinkStage.Running(event: ConnectionEvent(role: parameters.role)))
        handle(.anchor)
    }

    private func closeEvent() {
        guard let running = stage.running else { return }
        let wasHeard = running.hasSynced || isCentral && supervision.lastReception >= anchor
        cancelTimer()
        if case .answered(let reason) = ending { return end(reason) }
        if !supervision.isRunning { resumeSupervision() }
        guard !stage.hasEnded else { return }
        finishEvent(wasHeard: wasHeard)
        arbiter.release(self)
    }

    private func finishEvent(wasHeard: Bool) {
        missed = wasHeard ? 0 : min(missed + 1, 1_000)
        let skipped = unused(wasHeard: wasHeard)
        hopping.skip(skipped)
        anchors.advance(skipping: skipped, control.timing)
        prepareEvent(skipping: skipped)
    }

    /// Returns the number of unused events between this one and the next used one.
    private func unused(wasHeard: Bool) -> Int {
        let skipped = wasHeard ? skippable : 0
        if subrating.isTrivial { return skipped }
        let instant = control.pending.map { Int($0.instant &- counter) }
        return subrating.unused(after: anchors.event, skipping: skipped, instant: instant)
    }

    /// The number of events that a peripheral may skip (4.5.1): none while anything is pending, and never an instant.
    private var skippable: Int {
        let latency = Int(control.timing.latency)
        guard !isCentral, latency > 0, isEstablished, ending == nil, !queue.hasWork, !peerHasMore else { return 0 }
        guard supervision.lastReception >= anchor, control.pending == nil, !control.awaitsPeer,
            !control.encryption.isBusy
        else {
            return 0
        }
        return latency
    }

    /// Wakes a peripheral that skips events when there is something to send.
    private func listenSooner() {
        guard !isCentral, case .waiting(let timer, let skipped) = stage, skipped > 0 else { return }
        let early = anchor.microseconds(since: loop.now) - anchors.widening(control.timing) - 1
        let possible = min(Int(early / interval.microseconds), skipped)
        // The central sends only in used events.
        let events = possible - (subrating.current.distance(after: anchors.event - possible - 1) - 1)
        guard early > 0, events > 0 else { return }
        loop.cancel(timer)
        hopping.unskip(events)
        anchors.goBack(events, control.timing)
        prepareEvent(skipping: skipped - events)
    }

    // MARK: Quiet events

    /// Passes this event and further ones at once with the other end, as peripheral. Returns false if this event is to be
    /// carried out frame by frame.
    private func passQuietEvents() -> Bool {
        guard !isCentral, let virtualLoop, isQuiet, let central = quietCentral, let timer = central.stage.timer,
            let strength = strength(of: central), let reply = central.strength(of: self),
            let end = virtualLoop.horizon(behind: timer),
            let events = QuietEvents(
                central.anchors,
                anchors,
                control.timing,
                central.quietExchange(with: self),
                from: loop.now,
                needed: max(firstExchange, central.firstExchange),
                before: end
            )
        else { return false }
        loop.cancel(timer)
        virtualLoop.pass(to: events.peripheralEnd)
        for _ in 0..<(2 - events.count % 2) { exchangeEmpty(with: central) }
        // The peripheral's event closes first.
        pass(events, with: central, wait: events.wait, received: events.centralEnd, strength)
        central.pass(events, with: self, wait: 0, received: events.peripheralEnd, reply)
        // Each end sends an empty PDU in each event.
        arbiter.node.radio.pass(quietFrames: 2 * events.count)
        return true
    }

    /// Whether this end has nothing to send, applies nothing in its next events, and uses all of them.
    private var isQuiet: Bool {
        guard case .waiting = stage, ending == nil, queue.isQuiet, control.timing.latency == 0, control.pending == nil
        else { return false }
        return subrating.isTrivial && isEstablished && supervision.isRunning && arbiter.isIdle
    }

    /// The central end, if it is quiet and in step with this end, and nothing disturbs their frames.
    private var quietCentral: Link? {
        let radio = arbiter.node.radio
        guard radio.isQuiet, let central = radio.central(of: parameters.data.accessAddress) as? Link, central.isQuiet,
            central.parameters.data == parameters.data, central.control.timing == control.timing,
            central.hopping.isInStep(with: hopping), central.txPHY.modulation == rxPHY.modulation,
            central.rxPHY.modulation == txPHY.modulation
        else { return nil }
        return central
    }

    /// Returns the strength of the peer's frames here, in dBm; nil if it is too low to receive them.
    private func strength(of peer: Link) -> Double? {
        let (node, sender) = (arbiter.node, peer.arbiter.node)
        let strength = node.radio.strength(
            power: peer.parameters.transmitPower,
            from: sender.position,
            to: node.position
        )
        // All channels are alike.
        return node.radio.isReceivable(strength, peer.txPHY, channel: 0) ? strength : nil
    }

    /// Returns the frames of a quiet event. A receiver follows the coding of the sender.
    private func quietExchange(with peer: Link) -> QuietExchange {
        QuietExchange(sent: txPHY, power: parameters.transmitPower, received: peer.txPHY)
    }

    /// Exchanges one empty PDU each, as peripheral. After one exchange, every further two of them change nothing.
    private func exchangeEmpty(with central: Link) {
        _ = central.queue.next(limit: 0)
        receiveEmpty(from: central)
        _ = queue.next(limit: 0)
        central.receiveEmpty(from: self)
    }

    private func receiveEmpty(from peer: Link) {
        let sent = peer.acknowledgement
        let outcome = acknowledgement.receive(
            sequence: sent.sequence,
            nextExpected: sent.nextExpected,
            hasRoom: true
        )
        if outcome.isAcknowledged { _ = queue.acknowledged() }
    }

    /// Adopts the state after quiet events, and schedules the next one.
    ///
    /// - Parameters:
    ///   - wait: How long this end listens before each anchor point, in microseconds.
    ///   - reception: When the last PDU of the peer has ended.
    ///   - strength: The strength of the peer's frames, in dBm.
    private func pass(
        _ events: QuietEvents,
        with peer: Link,
        wait: Int64,
        received reception: Instant,
        _ strength: Double
    ) {
        arbiter.pass(
            quietExchange(with: peer),
            listeningFor: wait + LinkTiming.interFrameSpace,
            times: events.count,
            listening: shares.listening,
            frames: shares.empty
        )
        lastEvent = anchors.event + events.count - 1
        let counter = counter &+ UInt16(truncatingIfNeeded: events.count - 1)
        _ = control.begin(counter: counter)
        hopping.pass(events.count, last: counter)
        anchors.pass(events.count, last: events.last, control.timing)
        _ = supervision.packetReceived(at: reception)
        (missed, rssi, peerHasMore) = (0, reportedRSSI(strength), false)
        prepareEvent()
    }

    // MARK: Within an event

    /// Passes an input to the event in progress, if there is one.
    private func handle(_ input: ConnectionEvent.Input) {
        guard let output = stage.running?.event.handle(input) else { return }
        switch output {
        case .send: transmit()
        case .listen: listen()
        case .close: closeEvent()
        case .none: break
        }
    }

    /// Whether nothing has been sent yet in the event in progress.
    private var isFirst: Bool { stage.running?.event.isFirst ?? true }

    private func cancelTimer() {
        if let timer = stage.running?.timer { loop.cancel(timer) }
        stage.running?.timer = nil
    }

    private func listen() {
        let hasSynced = stage.running?.hasSynced ?? false
        // The central cannot continue, so there is nothing to listen for, and the next event must not be missed.
        if !isCentral, hasSynced, !mayCentralContinue { return closeEvent() }
        arbiter.node.listen(parameters.data.tuning(channel: hopping.channel, modulation: rxPHY.modulation))
        let deadline: Instant
        if !isCentral, !hasSynced {
            deadline = anchors.end(control.timing)
        } else {
            deadline = loop.now + .microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        }
        stage.running?.timer = loop.schedule(at: deadline) { [unowned self] in
            stage.running?.timer = nil
            if !arbiter.node.isReceiving { handle(.silence) }
        }
    }

    func radioDetectedStart() {
        arbiter.settle(shares.listening)
        cancelTimer()
        guard !isCentral, stage.running?.hasSynced == false else { return }
        // The start of the central's first PDU is the anchor point, whether or not its CRC is correct (4.5.1).
        stage.running?.hasSynced = true
        anchors.synchronize(at: loop.now)
    }

    func radioReceived(_ frame: ReceivedFrame) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        guard let (header, payload) = parse(frame) else { return handle(.corrupted) }
        arbiter.settle(shares[LinkTraffic(header.content, payload)])
        if !payload.isEmpty { subrating.noteTraffic() }
        if supervision.packetReceived(at: loop.now) { restartSupervision() }
        missed = 0
        rssi = frame.rssi
        receive(header, payload)
        // The PDU may have ended the link.
        guard stage.isAwake else { return }
        // Without buffers for more data, the event is not continued.
        peerHasMore = header.moreData && takesData
        // A peripheral without more data does not listen again before the next event, not even for the acknowledgement
        // of its LL_TERMINATE_IND (Core Vol 6 Part B 4.5.6, 5.1.6).
        handle(.received(moreData: peerHasMore))
    }

    private func parse(_ frame: ReceivedFrame) -> (DataHeader, PacketBuffer)? {
        guard !frame.isCorrupted else { return nil }
        // Data lengths are negotiated for data only; control PDUs have lengths of their own (4.5.10).
        let control = max(acceptedOctets, ControlPDU.maximumOctets)
        let open = ciphers.openOctets
        return DataHeader.parse(frame.frame.pdu, data: acceptedOctets + open, control: control + open)
    }

    private func transmit() {
        if isCentral, isFirst { return sendNow() }
        let start = loop.now.advanced(byMicroseconds: LinkTiming.interFrameSpace)
        guard hasTime(from: start), isWorthwhile(at: start) else { return closeEvent() }
        stage.running?.timer = loop.schedule(at: start) { [unowned self] in
            stage.running?.timer = nil
            sendNow()
        }
    }

    private func sendNow() {
        let isNew = queue.inFlight == nil
        var outgoing = queue.next(limit: payloadLimit(at: loop.now))
        if isNew, ciphers.encrypts, !outgoing.payload.isEmpty {
            let sealed = ciphers.seal(outgoing.payload, header: outgoing.content.rawValue)
            guard let sealed else { return end(.terminatedByMICFailure) }
            queue.seal(sealed)
            outgoing.sealed = sealed
        }
        let payload = outgoing.air
        let header = DataHeader(
            outgoing.content,
            nextExpected: acknowledgement.nextExpected,
            sequence: acknowledgement.sequence,
            moreData: queue.hasMore,
            length: UInt8(truncatingIfNeeded: payload.count)
        )
        stage.running?.sentMoreData = queue.hasMore
        if !payload.isEmpty { subrating.noteTraffic() }
        arbiter.settle(shares.listening)
        arbiter.node.send(
            parameters.data.frame(channel: hopping.channel, phy: txPHY, pdu: header.pdu(payload).bytes),
            power: parameters.transmitPower
        )
        arbiter.settle(shares[LinkTraffic(outgoing.content, payload)])
    }

    func radioSent() {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        guard let running = stage.running else { return }
        if case .owesAnswer(let reason) = ending { ending = .answered(reason) }
        handle(.sent(moreData: running.sentMoreData))
    }

    func radioLost() {
        handle(.revoked)
    }

    // MARK: Timing

    /// The end of this event: an inter frame space before the next one, or before another user's turn (4.5.6).
    private var latestEnd: Instant {
        let others = arbiter.nextReservation(after: loop.now, except: self)
        let end = min(ownEnd, others.advanced(byMicroseconds: -LinkTiming.interFrameSpace))
        // Debts are paid at the end of an event. They do not shorten its first exchange.
        return isFirst ? end : end.advanced(byMicroseconds: -arbiter.owed)
    }

    /// The end of this event if no other user needed the radio.
    private var ownEnd: Instant {
        (anchor + interval).advanced(byMicroseconds: -LinkTiming.interFrameSpace)
    }

    /// The air time of the next exchange.
    private var exchange: LinkExchange {
        LinkExchange(
            isCentral: isCentral,
            tx: txPHY,
            rx: rxPHY,
            sealOctets: ciphers.sealOctets,
            openOctets: ciphers.openOctets
        )
    }

    /// The maximum duration of an event's first exchange while another user waits, in microseconds.
    private var firstExchange: Int64 {
        let uncertainty = isCentral ? 0 : 2 * anchors.widening(control.timing) + anchors.window.microseconds
        return exchange.first + uncertainty
    }

    /// Whether one more exchange fits. The peripheral always responds to the first PDU of an event.
    private func hasTime(from start: Instant) -> Bool {
        !isCentral && isFirst || exchange.end(from: start, sending: queue.inFlight?.air.count ?? 0) <= latestEnd
    }

    /// Whether the rest of the interval allows the central to send once more and get a response.
    private var mayCentralContinue: Bool {
        let exchange = exchange
        let time = exchange.emptyAnswer + exchange.sending(0) + 3 * LinkTiming.interFrameSpace
        return loop.now.advanced(byMicroseconds: time) <= anchor + interval
    }

    /// Whether the central should continue. It does not send an empty PDU to a peer without more data.
    private func isWorthwhile(at start: Instant) -> Bool {
        !isCentral || peerHasMore || ending?.owesAnswer == true || queue.inFlight != nil || payloadLimit(at: start) > 0
    }

    /// Returns the maximum payload length to send now: the negotiated length, if it fits into the rest of the event.
    private func payloadLimit(at start: Instant) -> Int {
        let exchange = exchange
        let agreed = max(exchange.agreedLength(control.dataLength), queue.controlLength ?? 0)
        let wanted = min(agreed, queue.nextLength ?? agreed)
        let others = exchange.longestPayload(from: start, to: latestEnd, isFirst: isFirst)
        // Splitting a PDU to fill the event would only create more PDUs.
        if others >= wanted { return agreed }
        guard isFirst else { return 0 }
        // An event always carries something (4.5.1): 27 octets even while others wait for the radio.
        let alone = exchange.longestPayload(from: start, to: ownEnd, isFirst: false)
        return min(agreed, max(others, min(alone, Int(DataLength.minimumOctets))))
    }
}

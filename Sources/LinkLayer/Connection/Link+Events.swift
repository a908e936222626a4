import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The connection events of a link on the radio.
extension Link {
    /// How late a PDU may begin after an inter frame space, in microseconds: 2 for the active clocks (Core Vol 6 Part B
    /// 4.2.1) and what a receiver needs to notice.
    static let responseMargin: Int64 = 4

    // MARK: Between events

    /// Waits for the event at ``anchor``, and sleeps through those that are skipped before it.
    func prepareEvent(skipping skipped: Int = 0) {
        let start = isCentral ? anchor : anchor - .microseconds(widening)
        arbiter.reserve(self, at: start)
        stage = .waiting(loop.schedule(at: start) { [unowned self] in beginEvent() }, skipped: skipped)
    }

    /// By how much earlier and later than expected the peripheral listens (4.2.4); never so much that it would reach
    /// into the next event.
    private var widening: Int64 {
        let widening = ClockAccuracy.widening(
            parameters.ownAccuracy,
            peerAccuracy,
            since: anchor - lastSync
        )
        return min(widening, control.timing.intervalMicroseconds / 2 - LinkTiming.interFrameSpace)
    }

    private func beginEvent() {
        perform(control.begin(counter: counter))
        // That may have ended the link.
        guard case .waiting(_, let skipped) = stage else { return }
        if pendingWindow { return prepareEvent(skipping: skipped) }
        channel = channels.next(counter: counter, map: channelMap)
        // An event that something else has made late is a missed one, and so is one that a more urgent link would miss.
        guard loop.now <= anchor, !arbiter.isNeeded(within: firstExchange, by: self), arbiter.claim(self)
        else { return finishEvent(wasHeard: false) }
        stage = .awake(LinkStage.Running(event: ConnectionEvent(role: parameters.role)))
        handle(.anchor)
    }

    /// Whether the timing has just changed, and this event begins later than was thought.
    private var pendingWindow: Bool {
        (isCentral ? anchor : anchor - .microseconds(widening)) > loop.now
    }

    private func closeEvent() {
        guard let running = stage.running else { return }
        let wasHeard = running.hasSynced || isCentral && lastHeard >= anchor
        cancelTimer()
        if case .answered(let reason) = ending { return end(reason) }
        finishEvent(wasHeard: wasHeard)
        arbiter.release(self)
    }

    private func finishEvent(wasHeard: Bool) {
        missed = wasHeard ? 0 : min(missed + 1, 1_000)
        let skipped = unused(wasHeard: wasHeard)
        channels.skip(skipped)
        counter &+= UInt16(truncatingIfNeeded: 1 + skipped)
        event += 1 + skipped
        anchor = anchor + (skipped == 0 ? interval : interval * (1 + skipped))
        prepareEvent(skipping: skipped)
    }

    /// How many events lie between this one and the next that is used.
    private func unused(wasHeard: Bool) -> Int {
        let skipped = wasHeard ? skippable : 0
        return subrating.isTrivial && nextSubrating == nil ? skipped : unusedSubrated(skipped: skipped)
    }

    /// The same where not every event is used, and of those that are so many are skipped. An event with data has others behind
    /// it (4.5.1); the instant of a change and the event before it are used in any case (5.1.1).
    private func unusedSubrated(skipped: Int) -> Int {
        if hasTraffic { continuing = subrating.continuation }
        hasTraffic = false
        if continuing > 0 {
            continuing -= 1
            return 0
        }
        var step = subrating.distance(after: event) + skipped * subrating.factor
        if let nextSubrating { step = min(step, nextSubrating.distance(after: event)) }
        if let pending = control.pending {
            let instant = Int(pending.instant &- counter)
            if (1..<32_767).contains(instant) { step = min(step, max(1, instant - 1)) }
        }
        return step - 1
    }

    /// How many events a peripheral passes over (4.5.1): none while anything is under way, and never an instant.
    private var skippable: Int {
        let latency = Int(control.timing.latency)
        guard !isCentral, latency > 0, isEstablished, ending == nil, !queue.hasWork, !peerHasMore else { return 0 }
        guard lastHeard >= anchor, control.pending == nil, !control.awaitsPeer, !control.encryption.isBusy else {
            return 0
        }
        return latency
    }

    /// A peripheral that sleeps through events wakes up when there is something to send.
    func listenSooner() {
        guard !isCentral, case .waiting(let timer, let skipped) = stage, skipped > 0 else { return }
        let early = anchor.microseconds(since: loop.now) - widening - 1
        let possible = min(Int(early / interval.microseconds), skipped)
        // The central sends in events that are used, and in no other.
        let events = possible - (subrating.distance(after: event - possible - 1) - 1)
        guard early > 0, events > 0 else { return }
        loop.cancel(timer)
        channels.unskip(events)
        counter &-= UInt16(truncatingIfNeeded: events)
        self.event -= events
        anchor = anchor - interval * events
        prepareEvent(skipping: skipped - events)
    }

    // MARK: Within an event

    /// Something has happened to the event that runs, if one does.
    private func handle(_ input: ConnectionEvent.Input) {
        guard let output = stage.running?.event.handle(input) else { return }
        switch output {
        case .send: transmit()
        case .listen: listen()
        case .close: closeEvent()
        case .none: break
        }
    }

    /// Whether nothing has been sent yet in the event that runs.
    private var isFirst: Bool { stage.running?.event.isFirst ?? true }

    private func cancelTimer() {
        if let timer = stage.running?.timer { loop.cancel(timer) }
        stage.running?.timer = nil
    }

    private func listen() {
        let hasSynced = stage.running?.hasSynced ?? false
        // The central cannot go on, so that there is nothing to wait for: the next event must not be missed.
        if !isCentral, hasSynced, !mayCentralContinue { return closeEvent() }
        arbiter.node.listen(
            RadioTuning(
                channel: channel,
                accessAddress: parameters.data.accessAddress,
                crcInit: parameters.data.crcInit,
                modulation: rxPHY.modulation
            )
        )
        let deadline: Instant
        if !isCentral, !hasSynced {
            deadline = anchor + window + .microseconds(widening)
        } else {
            deadline = loop.now + .microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        }
        stage.running?.timer = loop.schedule(at: deadline) { [unowned self] in
            stage.running?.timer = nil
            if !arbiter.node.isReceiving { handle(.silence) }
        }
    }

    func radioHeardStart() {
        arbiter.settle(shares.listening)
        cancelTimer()
        guard !isCentral, stage.running?.hasSynced == false else { return }
        // The anchor point is where the central's first PDU begins, whether its CRC is good or not (4.5.1).
        stage.running?.hasSynced = true
        anchor = loop.now
        lastSync = anchor
        window = .zero
    }

    func radioReceived(_ frame: ReceivedFrame) {
        guard let (header, payload) = read(frame) else { return handle(.corrupted) }
        arbiter.settle(shares[LinkTraffic(header.content, payload)])
        if !payload.isEmpty { hasTraffic = true }
        presence = .heard(loop.now)
        missed = 0
        rssi = frame.rssi
        take(header, payload)
        // Taking it may have ended the link.
        guard stage.isAwake else { return }
        // More of what the host has no room for is not asked for before the next event.
        peerHasMore = header.moreData && takesData
        // A peripheral that has no more to say does not listen before the next event, not even for the acknowledgement of
        // its LL_TERMINATE_IND (Core Vol 6 Part B 4.5.6, 5.1.6).
        handle(.received(moreData: peerHasMore))
    }

    /// A good data PDU; nil for everything else (AB-L02).
    private func read(_ frame: ReceivedFrame) -> (DataHeader, PacketBuffer)? {
        guard !frame.isCorrupted else { return nil }
        var reader = FieldReader(PacketBuffer(frame.frame.pdu))
        var header = DataHeader()
        guard (try? header.code(&reader)) != nil else { return nil }
        // Lengths are agreed upon for data; a control PDU is as long as it is (4.5.10).
        let most = header.content == .control ? max(acceptedOctets, ControlPDU.maximumOctets) : acceptedOctets
        guard Int(header.length) == reader.remaining, Int(header.length) <= most + openOctets else { return nil }
        return (header, reader.bytes.rest())
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
        if isNew, transmitCipher != nil, !outgoing.payload.isEmpty {
            guard let sealed = seal(outgoing) else { return end(.terminatedByMICFailure) }
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
        if !payload.isEmpty { hasTraffic = true }
        var pdu = PacketBuffer(headroom: 0, capacity: DataHeader.size + payload.count)
        header.write(to: &pdu)
        pdu.append(contentsOf: payload)
        arbiter.settle(shares.listening)
        arbiter.node.send(
            RadioFrame(
                channel: channel,
                accessAddress: parameters.data.accessAddress,
                crcInit: parameters.data.crcInit,
                phy: txPHY,
                pdu: pdu.bytes
            ),
            power: parameters.transmitPower
        )
        arbiter.settle(shares[LinkTraffic(outgoing.content, payload)])
    }

    func radioSent() {
        guard let running = stage.running else { return }
        if case .owesAnswer(let reason) = ending { ending = .answered(reason) }
        handle(.sent(moreData: running.sentMoreData))
    }

    func radioTaken() {
        handle(.revoked)
    }

    func radioFree() {}

    // MARK: Time

    /// The end of this event: an inter frame space before the next one, or before somebody else's turn (4.5.6).
    private var latestEnd: Instant {
        let others = arbiter.nextReservation(after: loop.now, except: self)
        let end = min(ownEnd, others.advanced(byMicroseconds: -LinkTiming.interFrameSpace))
        // Debts are paid at the end of an event; its first exchange is not cut short for them.
        return isFirst ? end : end.advanced(byMicroseconds: -arbiter.owed)
    }

    /// The end of this event if nobody else needed the radio.
    private var ownEnd: Instant {
        (anchor + interval).advanced(byMicroseconds: -LinkTiming.interFrameSpace)
    }

    /// What the first exchange of an event takes at most when somebody else waits, in microseconds: 27 octets each way.
    private var firstExchange: Int64 {
        let octets = DataHeader.size + Int(DataLength.minimumOctets)
        let exchange =
            txPHY.airTimeMicroseconds(octets: octets + sealOctets)
            + rxPHY.airTimeMicroseconds(octets: octets + openOctets)
        let uncertainty = isCentral ? 0 : 2 * widening + window.microseconds
        return exchange + LinkTiming.interFrameSpace + uncertainty
    }

    /// Whether one more exchange fits. The central counts with an empty answer; the peripheral always answers the first
    /// PDU of an event.
    private func hasTime(from start: Instant) -> Bool {
        let own = queue.inFlight.map { airTime($0.air.count) } ?? airTime(0)
        if isCentral {
            let answer = rxPHY.airTimeMicroseconds(octets: DataHeader.size)
            return start.advanced(byMicroseconds: own + LinkTiming.interFrameSpace + answer) <= latestEnd
        }
        return isFirst || start.advanced(byMicroseconds: own) <= latestEnd
    }

    /// Whether the central can send once more, and be answered, in what is left of the interval.
    private var mayCentralContinue: Bool {
        let exchange = rxPHY.airTimeMicroseconds(octets: DataHeader.size) + airTime(0)
        let end = loop.now.advanced(byMicroseconds: exchange + 3 * LinkTiming.interFrameSpace)
        return end <= anchor + interval
    }

    /// The central does not go on only to send an empty PDU to a peer that has nothing to say.
    private func isWorthwhile(at start: Instant) -> Bool {
        !isCentral || peerHasMore || owesAnswer || queue.inFlight != nil || payloadLimit(at: start) > 0
    }

    /// The longest payload that may be sent now: what was agreed upon, as long as it fits into the rest of the event.
    private func payloadLimit(at start: Instant) -> Int {
        let agreed = max(
            min(
                Int(control.dataLength.txOctets),
                txPHY.longestPayload(within: Int64(control.dataLength.txTime(txPHY))) - sealOctets
            ),
            queue.controlLength ?? 0
        )
        let wanted = min(agreed, queue.nextLength ?? agreed)
        let least = Int(DataLength.minimumOctets)
        // The first exchange of an event leaves the peer the room for what every device may send: a peer with something
        // to say is not silenced by one that always has more.
        let others = fittingPayload(from: start, to: latestEnd, answer: isFirst ? least : 0)
        // Cutting a PDU short to fill an event would only make more of them.
        if others >= wanted { return agreed }
        guard isFirst else { return 0 }
        // An event always carries something (4.5.1): 27 octets even when others wait for the radio.
        let alone = fittingPayload(from: start, to: ownEnd, answer: 0)
        return min(agreed, max(others, min(alone, least)))
    }

    /// The longest payload that is over before `end`, with a PDU of the peer behind it if that has to answer.
    private func fittingPayload(from start: Instant, to end: Instant, answer: Int) -> Int {
        let code = answer > 0 ? openOctets : 0
        let peer = LinkTiming.interFrameSpace + rxPHY.airTimeMicroseconds(octets: DataHeader.size + answer + code)
        let longest = txPHY.longestPayload(within: end.microseconds(since: start) - (isCentral ? peer : 0))
        return max(0, longest - sealOctets)
    }

    private func airTime(_ payload: Int) -> Int64 {
        txPHY.airTimeMicroseconds(octets: DataHeader.size + payload)
    }
}

extension LinkTraffic {
    /// What a PDU is; one of a reserved kind is read by nobody, like one that is empty.
    fileprivate init(_ content: DataHeader.Content, _ payload: PacketBuffer) {
        switch content {
        case .control: self = .control
        case .start, .continuation: self = payload.isEmpty ? .empty : .data
        case .reserved: self = .empty
        }
    }
}

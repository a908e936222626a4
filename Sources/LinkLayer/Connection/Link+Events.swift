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

    /// Sets the timer for the event at ``anchor``.
    func prepareEvent() {
        event = ConnectionEvent(role: parameters.role)
        let start = isCentral ? anchor : anchor - .microseconds(widening)
        arbiter.reserve(self, at: start)
        timer = loop.schedule(at: start) { [unowned self] in beginEvent() }
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
        isAwake = false
        perform(control.begin(counter: counter))
        guard timer != nil else { return }
        timer = nil
        if pendingWindow { return prepareEvent() }
        channel = channels.next(counter: counter, map: channelMap)
        // An event that something else has made late is a missed one, and so is one that a more urgent link would miss.
        guard loop.now <= anchor, !arbiter.isNeeded(within: firstExchange, by: self), arbiter.claim(self)
        else { return finishEvent(wasHeard: false) }
        isAwake = true
        hasSynced = false
        act(event.handle(.anchor))
    }

    /// Whether the timing has just changed, and this event begins later than was thought.
    private var pendingWindow: Bool {
        (isCentral ? anchor : anchor - .microseconds(widening)) > loop.now
    }

    private func closeEvent() {
        let wasHeard = hasSynced || isCentral && lastHeard >= anchor
        isAwake = false
        if let timer { loop.cancel(timer) }
        timer = nil
        if case .owesAnswer(let reason) = ending, answered { return end(reason) }
        finishEvent(wasHeard: wasHeard)
        arbiter.release(self)
    }

    private func finishEvent(wasHeard: Bool) {
        missed = wasHeard ? 0 : min(missed + 1, 1_000)
        advance(by: 1 + (wasHeard ? skippable : 0))
        prepareEvent()
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

    private func advance(by events: Int) {
        skipped = events - 1
        channels.skip(skipped)
        counter &+= UInt16(truncatingIfNeeded: events)
        anchor = anchor + interval * events
    }

    /// A peripheral that sleeps through events wakes up when there is something to send.
    func listenSooner() {
        guard !isCentral, !isAwake, let timer, skipped > 0 else { return }
        let early = (anchor - loop.now).microseconds - widening - 1
        let events = min(Int(early / interval.microseconds), skipped)
        guard early > 0, events > 0 else { return }
        loop.cancel(timer)
        skipped -= events
        channels.unskip(events)
        counter &-= UInt16(truncatingIfNeeded: events)
        anchor = anchor - interval * events
        prepareEvent()
    }

    // MARK: Within an event

    private func act(_ output: ConnectionEvent.Output) {
        switch output {
        case .send: transmit()
        case .listen: listen()
        case .close: closeEvent()
        case .none: break
        }
    }

    private func listen() {
        // The central cannot go on, so that there is nothing to wait for: the next event must not be missed.
        if !isCentral, hasSynced, !mayCentralContinue { return act(event.close()) }
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
        timer = loop.schedule(at: deadline) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { act(event.handle(.silence)) }
        }
    }

    func radioHeardStart() {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard !isCentral, !hasSynced else { return }
        // The anchor point is where the central's first PDU begins, whether its CRC is good or not (4.5.1).
        hasSynced = true
        anchor = loop.now
        lastSync = anchor
        window = .zero
    }

    func radioReceived(_ frame: ReceivedFrame) {
        guard let (header, payload) = read(frame) else { return act(event.handle(.corrupted)) }
        lastHeard = loop.now
        isEstablished = true
        missed = 0
        rssi = frame.rssi
        take(header, payload)
        // Taking it may have ended the link.
        guard isAwake else { return }
        // More of what the host has no room for is not asked for before the next event.
        peerHasMore = header.moreData && takesData
        // A peripheral that has no more to say does not listen before the next event, not even for the acknowledgement of
        // its LL_TERMINATE_IND (Core Vol 6 Part B 4.5.6, 5.1.6).
        act(event.handle(.received(moreData: peerHasMore)))
    }

    /// A good data PDU; nil for everything else (AB-L02).
    private func read(_ frame: ReceivedFrame) -> (DataHeader, PacketBuffer)? {
        guard !frame.isCorrupted else { return nil }
        var reader = FieldReader(PacketBuffer(frame.frame.pdu))
        var header = DataHeader()
        guard (try? header.code(&reader)) != nil, Int(header.length) == reader.remaining,
            Int(header.length) <= acceptedOctets + openOctets
        else { return nil }
        return (header, reader.bytes.rest())
    }

    private func transmit() {
        if isCentral, event.isFirst { return sendNow() }
        let start = loop.now + .microseconds(LinkTiming.interFrameSpace)
        guard hasTime(from: start), isWorthwhile(at: start) else { return act(event.close()) }
        timer = loop.schedule(at: start) { [unowned self] in
            timer = nil
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
        sentMoreData = queue.hasMore
        var pdu = PacketBuffer(headroom: 0, capacity: DataHeader.size + payload.count)
        header.write(to: &pdu)
        pdu.append(contentsOf: payload)
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
    }

    func radioSent() {
        guard isAwake else { return }
        if case .owesAnswer = ending { answered = true }
        act(event.handle(.sent(moreData: sentMoreData)))
    }

    func radioTaken() {
        act(event.handle(.revoked))
    }

    func radioFree() {}

    // MARK: Time

    /// The end of this event: an inter frame space before the next one, or before somebody else's turn (4.5.6).
    private var latestEnd: Instant {
        let others = arbiter.nextReservation(after: loop.now, except: self)
        let end = min(ownEnd, others - .microseconds(LinkTiming.interFrameSpace))
        // Debts are paid at the end of an event; its first exchange is not cut short for them.
        return event.isFirst ? end : end - .microseconds(arbiter.owed)
    }

    /// The end of this event if nobody else needed the radio.
    private var ownEnd: Instant {
        anchor + interval - .microseconds(LinkTiming.interFrameSpace)
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
            return start + .microseconds(own + LinkTiming.interFrameSpace + answer) <= latestEnd
        }
        return event.isFirst || start + .microseconds(own) <= latestEnd
    }

    /// Whether the central can send once more, and be answered, in what is left of the interval.
    private var mayCentralContinue: Bool {
        let exchange = rxPHY.airTimeMicroseconds(octets: DataHeader.size) + airTime(0)
        let end = loop.now + .microseconds(exchange + 3 * LinkTiming.interFrameSpace)
        return end <= anchor + interval
    }

    /// The central does not go on only to send an empty PDU to a peer that has nothing to say.
    private func isWorthwhile(at start: Instant) -> Bool {
        !isCentral || peerHasMore || owesAnswer || queue.inFlight != nil || payloadLimit(at: start) > 0
    }

    /// The longest payload that may be sent now: what was agreed upon, as long as it fits into the rest of the event.
    private func payloadLimit(at start: Instant) -> Int {
        let agreed = min(
            Int(control.dataLength.txOctets),
            txPHY.longestPayload(within: Int64(control.dataLength.txTime(txPHY))) - sealOctets
        )
        let wanted = min(agreed, queue.nextLength ?? agreed)
        let least = Int(DataLength.minimumOctets)
        // The first exchange of an event leaves the peer the room for what every device may send: a peer with something
        // to say is not silenced by one that always has more.
        let others = fittingPayload(from: start, to: latestEnd, answer: event.isFirst ? least : 0)
        // Cutting a PDU short to fill an event would only make more of them.
        if others >= wanted { return agreed }
        guard event.isFirst else { return 0 }
        // An event always carries something (4.5.1): 27 octets even when others wait for the radio.
        let alone = fittingPayload(from: start, to: ownEnd, answer: 0)
        return min(agreed, max(others, min(alone, least)))
    }

    /// The longest payload that is over before `end`, with a PDU of the peer behind it if that has to answer.
    private func fittingPayload(from start: Instant, to end: Instant, answer: Int) -> Int {
        let code = answer > 0 ? openOctets : 0
        let peer = LinkTiming.interFrameSpace + rxPHY.airTimeMicroseconds(octets: DataHeader.size + answer + code)
        let longest = txPHY.longestPayload(within: (end - start).microseconds - (isCentral ? peer : 0))
        return max(0, longest - sealOctets)
    }

    private func airTime(_ payload: Int) -> Int64 {
        txPHY.airTimeMicroseconds(octets: DataHeader.size + payload)
    }
}

import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The connection events of a link.
extension Link {
    /// How late a PDU may start after an inter frame space, in microseconds: 2 for the active clocks (Core Vol 6 Part B
    /// 4.2.1), and what a receiver needs for detection.
    static let responseMargin: Int64 = 4

    // MARK: Between events

    /// Schedules the event at ``anchor``, after `skipped` skipped events.
    func prepareEvent(skipping skipped: Int = 0) {
        let start = isCentral ? anchor : anchor - .microseconds(widening)
        arbiter.reserve(self, at: start)
        stage = .waiting(loop.schedule(at: start) { [unowned self] in beginEvent() }, skipped: skipped)
    }

    /// How much earlier and later than expected the peripheral listens, in microseconds (4.2.4). Limited so as not to
    /// reach into the next event.
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
        // The control procedures may have ended the link.
        guard case .waiting(_, let skipped) = stage else { return }
        if pendingWindow { return prepareEvent(skipping: skipped) }
        channel = channels.next(counter: counter, map: channelMap)
        // An event that starts late counts as missed, as does one that would make a more urgent link miss its own.
        guard loop.now <= anchor, !arbiter.isNeeded(within: firstExchange, by: self), arbiter.claim(self)
        else { return finishEvent(wasHeard: false) }
        stage = .awake(LinkStage.Running(event: ConnectionEvent(role: parameters.role)))
        handle(.anchor)
    }

    /// Whether a change of timing has just moved this event to a later time.
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

    /// Returns the number of unused events between this one and the next used one.
    private func unused(wasHeard: Bool) -> Int {
        let skipped = wasHeard ? skippable : 0
        return subrating.isTrivial && nextSubrating == nil ? skipped : unusedSubrated(skipped: skipped)
    }

    /// Returns the number of unused events with subrating, where `skipped` of the used events are skipped.
    ///
    /// An event with data is followed by continuation events (4.5.1). The instant of a change and the event before it
    /// are always used (5.1.1).
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

    /// The number of events that a peripheral may skip (4.5.1): none while anything is pending, and never an instant.
    private var skippable: Int {
        let latency = Int(control.timing.latency)
        guard !isCentral, latency > 0, isEstablished, ending == nil, !queue.hasWork, !peerHasMore else { return 0 }
        guard lastHeard >= anchor, control.pending == nil, !control.awaitsPeer, !control.encryption.isBusy else {
            return 0
        }
        return latency
    }

    /// Wakes a peripheral that skips events when there is something to send.
    func listenSooner() {
        guard !isCentral, case .waiting(let timer, let skipped) = stage, skipped > 0 else { return }
        let early = anchor.microseconds(since: loop.now) - widening - 1
        let possible = min(Int(early / interval.microseconds), skipped)
        // The central sends only in used events.
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
        // The start of the central's first PDU is the anchor point, whether or not its CRC is correct (4.5.1).
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
        // The PDU may have ended the link.
        guard stage.isAwake else { return }
        // Without buffers for more data, the event is not continued.
        peerHasMore = header.moreData && takesData
        // A peripheral without more data does not listen again before the next event, not even for the acknowledgement
        // of its LL_TERMINATE_IND (Core Vol 6 Part B 4.5.6, 5.1.6).
        handle(.received(moreData: peerHasMore))
    }

    /// Parses a data PDU; nil if it is corrupted or malformed (AB-L02).
    private func read(_ frame: ReceivedFrame) -> (DataHeader, PacketBuffer)? {
        guard !frame.isCorrupted else { return nil }
        var reader = FieldReader(PacketBuffer(frame.frame.pdu))
        var header = DataHeader()
        guard (try? header.code(&reader)) != nil else { return nil }
        // Data lengths are negotiated for data only; control PDUs have lengths of their own (4.5.10).
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

    /// The maximum duration of an event's first exchange while another user waits, in microseconds: 27 octets each way.
    private var firstExchange: Int64 {
        let octets = DataHeader.size + Int(DataLength.minimumOctets)
        let exchange =
            txPHY.airTimeMicroseconds(octets: octets + sealOctets)
            + rxPHY.airTimeMicroseconds(octets: octets + openOctets)
        let uncertainty = isCentral ? 0 : 2 * widening + window.microseconds
        return exchange + LinkTiming.interFrameSpace + uncertainty
    }

    /// Whether one more exchange fits. The central allows for an empty response; the peripheral always responds to the
    /// first PDU of an event.
    private func hasTime(from start: Instant) -> Bool {
        let own = queue.inFlight.map { airTime($0.air.count) } ?? airTime(0)
        if isCentral {
            let answer = rxPHY.airTimeMicroseconds(octets: DataHeader.size)
            return start.advanced(byMicroseconds: own + LinkTiming.interFrameSpace + answer) <= latestEnd
        }
        return isFirst || start.advanced(byMicroseconds: own) <= latestEnd
    }

    /// Whether the rest of the interval allows the central to send once more and get a response.
    private var mayCentralContinue: Bool {
        let exchange = rxPHY.airTimeMicroseconds(octets: DataHeader.size) + airTime(0)
        let end = loop.now.advanced(byMicroseconds: exchange + 3 * LinkTiming.interFrameSpace)
        return end <= anchor + interval
    }

    /// Whether the central should continue. It does not send an empty PDU to a peer without more data.
    private func isWorthwhile(at start: Instant) -> Bool {
        !isCentral || peerHasMore || owesAnswer || queue.inFlight != nil || payloadLimit(at: start) > 0
    }

    /// Returns the maximum payload length to send now: the negotiated length, if it fits into the rest of the event.
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
        // The first exchange of an event leaves the peer time for 27 octets, which every device may send. Otherwise a
        // side that always has more data could silence the other.
        let others = fittingPayload(from: start, to: latestEnd, answer: isFirst ? least : 0)
        // Splitting a PDU to fill the event would only create more PDUs.
        if others >= wanted { return agreed }
        guard isFirst else { return 0 }
        // An event always carries something (4.5.1): 27 octets even while others wait for the radio.
        let alone = fittingPayload(from: start, to: ownEnd, answer: 0)
        return min(agreed, max(others, min(alone, least)))
    }

    /// Returns the longest payload that ends before `end`, allowing for the peer's response if there has to be one.
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
    /// Classifies a data PDU. Reserved LLIDs are ignored by receivers and count as empty.
    fileprivate init(_ content: DataHeader.Content, _ payload: PacketBuffer) {
        switch content {
        case .control: self = .control
        case .start, .continuation: self = payload.isEmpty ? .empty : .data
        case .reserved: self = .empty
        }
    }
}

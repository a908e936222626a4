import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The stage of an extended advertising event.
enum ExtendedStage {
    /// A PDU of the plan is on the air.
    case sending(step: Int)
    /// The next PDU of the plan is due when the timer fires.
    case pausing(step: Int)
    /// Listening for a request after AUX_ADV_IND.
    case listening(channel: UInt8)
    /// AUX_CONNECT_RSP is due or on the air, in response to a request that ended at `end`.
    case connecting(ConnectIndication, end: Instant)
}

// Extended advertising events (Core Vol 6 Part B 4.4.2.2 to 4.4.2.11).
extension Advertiser {
    func beginExtendedEvent() {
        let begin = loop.now
        var set = set
        if set.syncInfo != nil {
            let start = begin + .microseconds(ExtendedEvent.segmentStart(of: set))
            (set.syncInfo, set.responses) = owner.advertiser(self, announcesTrainAt: start)
        }
        play(
            ExtendedEvent(set, isPrecise: isPrecise, channels: &secondary, place: placement(from: begin)),
            from: begin
        )
    }

    /// Returns a placement that puts the PDUs of a chain at times at which no user of higher priority is expected to
    /// need the radio.
    private func placement(from begin: Instant) -> ExtendedEvent.Placement {
        { [unowned self] start, airTime in
            let free = arbiter.firstFree(airTime, from: begin + .microseconds(start), for: self)
            return (free - begin).microseconds
        }
    }

    /// Sends the PDUs of a plan, each at its time.
    private func play(_ plan: ExtendedEvent, from begin: Instant) {
        event = (plan, begin)
        prepare(step: 0)
    }

    private func prepare(step: Int) {
        guard let event, step < event.plan.steps.count else { return completeEvent() }
        let start = event.begin + .microseconds(event.plan.steps[step].start)
        if start <= loop.now { return send(step: step) }
        state = .extended(.pausing(step: step))
        timer = loop.schedule(at: start) { [unowned self] in
            timer = nil
            send(step: step)
        }
    }

    private func send(step: Int) {
        // A connection event may have taken the radio in the meantime.
        guard let event, arbiter.claim(self) else { return endEvent() }
        guard hasTime(for: step, of: event.plan) else { return step == 0 ? postpone(event.plan) : endEvent() }
        state = .extended(.sending(step: step))
        arbiter.node.send(event.plan.steps[step].frame, power: power)
    }

    /// Postpones an event that cannot begin now until the radio is expected to be free, unless the next event is due by
    /// then.
    private func postpone(_ plan: ExtendedEvent) {
        let needed = time(from: 0, of: plan)
        let begin = arbiter.firstFree(needed, from: loop.now, for: self)
        guard plan.auxiliary > 0, begin > loop.now, begin < eventStart + pace else { return endEvent() }
        state = .idle
        event = nil
        timer = loop.schedule(at: begin) { [unowned self] in beginEvent() }
        arbiter.reserve(self, at: begin)
        arbiter.release(self)
    }

    /// Whether a PDU can be sent in full. ADV_EXT_IND requires time for AUX_ADV_IND as well, and for the response to a
    /// request.
    private func hasTime(for step: Int, of plan: ExtendedEvent) -> Bool {
        arbiter.isFree(time(from: step, of: plan), from: loop.now, for: self)
    }

    /// Returns how long the radio is needed once a PDU starts, in microseconds.
    private func time(from step: Int, of plan: ExtendedEvent) -> Int64 {
        let steps = plan.steps
        let last = max(step, plan.auxiliary)
        let end = steps[last].start + steps[last].frame.airTimeMicroseconds
        let isFollowed = plan.auxiliary > 0 && step <= plan.auxiliary
        return end - steps[step].start + (isFollowed ? set.answerTime : 0)
    }

    /// Whether a connection request has been accepted and is being answered.
    var isConnecting: Bool {
        if case .extended(.connecting) = state { return true }
        return false
    }

    /// Whether the next PDU is part of a chain. Other users may have the radio until then.
    var isBetweenChainedPDUs: Bool {
        guard case .extended(.pausing(let step)) = state, let event else { return false }
        return step > event.plan.auxiliary
    }

    func extendedSent(_ stage: ExtendedStage) {
        guard let event else { return }
        switch stage {
        case .sending(let step):
            let isAuxiliary = event.plan.auxiliary > 0 && step == event.plan.auxiliary
            if isAuxiliary, set.isConnectable || set.isScannable {
                listen(event.plan.steps[step].frame)
            } else {
                prepare(step: step + 1)
            }
        case .connecting(let request, let end):
            owner.advertiser(self, accepts: request, at: end)
        case .pausing, .listening:
            break
        }
    }

    private func listen(_ frame: RadioFrame) {
        state = .extended(.listening(channel: frame.channel))
        arbiter.node.listen(.advertising(channel: frame.channel, phy: set.parameters.secondaryPHY))
        let deadline = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        timer = loop.schedule(after: deadline) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { completeEvent() }
        }
    }

    func extendedReceived(_ frame: ReceivedFrame, _ stage: ExtendedStage) {
        guard case .listening(let channel) = stage, timer == nil else { return }
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else {
            return completeEvent()
        }
        let begin = loop.now + .microseconds(LinkTiming.interFrameSpace)
        switch pdu {
        case .scanRequest(let request) where answers(request):
            owner.advertiser(self, wasAskedBy: request.scanner)
            let plan = ExtendedEvent(
                response: set,
                channel: channel,
                isPrecise: isPrecise,
                channels: &secondary,
                place: placement(from: begin)
            )
            play(plan, from: begin)
        case .connect(let request) where accepts(request) && owner.advertiser(self, canAccept: request):
            respond(to: request, channel, at: begin)
        default:
            completeEvent()
        }
    }

    private func respond(to request: ConnectIndication, _ channel: UInt8, at begin: Instant) {
        var header = ExtendedHeader()
        header.advertiser = request.advertiser
        header.target = request.initiator
        let response = AdvertisingPDU.connectResponse(.init(mode: .nonConnectable, extended: header))
        let phy = set.parameters.secondaryPHY.radioPHY
        state = .extended(.connecting(request, end: loop.now))
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            arbiter.node.send(.advertising(response.encoded(), channel: channel, phy: phy), power: power)
        }
    }
}

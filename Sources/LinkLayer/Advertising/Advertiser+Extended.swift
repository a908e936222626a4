import BluetoothTypes
import EventLoops
import HCI
import Radio

/// How far an extended event has come.
enum ExtendedStage {
    /// A PDU of the plan is on the air.
    case sending(step: Int)
    /// A PDU of the plan is due at the timer.
    case pausing(step: Int)
    /// Behind AUX_ADV_IND, for a request.
    case listening(channel: UInt8)
    /// AUX_CONNECT_RSP is due, or on the air: the request that it answers, and when that ended.
    case connecting(ConnectIndication, end: Instant)
}

// Extended advertising events (Core Vol 6 Part B 4.4.2.2 to 4.4.2.11).
extension Advertiser {
    func beginExtendedEvent() {
        play(ExtendedEvent(set, isPrecise: isPrecise, channels: &secondary), from: loop.now)
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
        guard let event, hasTime(for: step, of: event.plan) else { return endEvent() }
        state = .extended(.sending(step: step))
        arbiter.node.send(event.plan.steps[step].frame, power: power)
    }

    /// Whether a PDU has its time, with the rest of the event: what has been pointed to should be there. A chain that is
    /// too long for that is sent as far as it gets.
    private func hasTime(for step: Int, of plan: ExtendedEvent) -> Bool {
        let steps = plan.steps
        let last = step < plan.auxiliary ? plan.auxiliary : step
        let end = steps[last].start + steps[last].frame.airTimeMicroseconds
        let isFollowed = step <= plan.auxiliary && plan.auxiliary > 0
        return arbiter.isFree(end - steps[step].start + (isFollowed ? set.answerTime : 0), from: loop.now, for: self)
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
            let plan = ExtendedEvent(response: set, channel: channel, isPrecise: isPrecise, channels: &secondary)
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

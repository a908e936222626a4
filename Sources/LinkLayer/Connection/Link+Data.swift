import BluetoothTypes
import EventLoops
import HCI

/// The content of a link's PDUs.
extension Link {
    /// Processes a PDU with a correct CRC: the acknowledgement in its header first, then its payload.
    func take(_ header: DataHeader, _ payload: PacketBuffer) {
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
    var takesData: Bool { ending != nil || held == nil && owner.hostRoom != nil }

    private func complete() {
        guard let outgoing = queue.acknowledged() else { return }
        if outgoing.endsPacket { owner.link(self, completed: 1) }
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

    /// Carries out the actions of the control procedures.
    func perform(_ actions: [LinkControl.Action]) {
        for action in actions { perform(action) }
        updateProcedureTimer()
    }

    private func perform(_ action: LinkControl.Action) {
        switch action {
        case .send(let pdu):
            guard ending == nil else { return }
            queue.add(control: pdu.encoded())
            if pdu.opcode == .terminateInd { awaitTermination(.localHostTerminated) }
            listenSooner()
        case .terminate(let reason):
            guard ending == nil else { return }
            queue.add(control: ControlPDU.terminate(.init(reason)).encoded())
            awaitTermination(reason)
            listenSooner()
        case .hold: queue.hold()
        case .release: queue.release()
        case .transmit(let session):
            transmitCipher = session.map { PacketCipher($0, isFromCentral: isCentral) }
        case .receive(let session):
            receiveCipher = session.map { PacketCipher($0, isFromCentral: !isCentral) }
            watchPayloads()
        case .report(let report):
            acceptedOctets = max(acceptedOctets, Int(control.dataLength.rxOctets))
            owner.link(self, reports: report)
        case .announceSubrate(let pdu):
            nextSubrating = SubratedEvents(pdu, near: event)
        case .applySubrate(let pdu):
            subrating = nextSubrating ?? SubratedEvents(pdu, near: event)
            nextSubrating = nil
            restartSupervision()
        case .heardOfTrain(let pdu):
            owner.link(self, heardOf: pdu)
        case .applyTiming(let pdu):
            if control.subrate.factor == 1 { (subrating, continuing) = (SubratedEvents(), 0) }
            let offset = Duration.microseconds(Int64(pdu.windowOffset) * LinkTiming.unit)
            anchor = anchor + offset.drifting(parameters.drift)
            if !isCentral { window = .microseconds(Int64(pdu.windowSize) * LinkTiming.unit) }
            restartSupervision()
        case .applyChannelMap(let map):
            channelMap = map
        case .applyPeerAccuracy(let accuracy):
            peerAccuracy = accuracy
        case .end(let reason):
            end(reason)
        case .endAfterAnswer(let reason):
            if case .answered = ending { ending = .answered(reason) } else { ending = .owesAnswer(reason) }
        }
    }

    /// If the peer never acknowledges LL_TERMINATE_IND, the link ends after the supervision timeout (5.1.6).
    private func awaitTermination(_ reason: HCIStatus) {
        ending = .awaitsAcknowledgement(reason)
        if let procedureTimer { loop.cancel(procedureTimer) }
        procedureTimer = loop.schedule(after: control.timing.timeoutDuration) { [unowned self] in
            end(reason)
        }
    }

    /// The peer has 40 s for each response (Core Vol 6 Part B 5.2).
    private func updateProcedureTimer() {
        if case .awaitsAcknowledgement = ending { return }
        guard control.awaitsPeer, ending == nil, !stage.hasEnded else {
            if let procedureTimer { loop.cancel(procedureTimer) }
            procedureTimer = nil
            return
        }
        guard procedureTimer == nil || procedureProgress != control.progress else { return }
        procedureProgress = control.progress
        if let procedureTimer { loop.cancel(procedureTimer) }
        procedureTimer = loop.schedule(after: LinkControl.responseTimeout) { [unowned self] in
            procedureTimer = nil
            perform(control.timeout())
        }
    }
}

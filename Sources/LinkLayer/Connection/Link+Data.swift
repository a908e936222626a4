import BluetoothTypes
import EventLoops
import HCI

/// What comes in and goes out within the PDUs of a link.
extension Link {
    /// Takes a good PDU: the acknowledgement in its header first, then its content.
    func take(_ header: DataHeader, _ payload: PacketBuffer) {
        // A peer that asks and never takes the answers is held up here (AB-L05, AB-L09).
        let hasRoom = header.content != .control || queue.hasRoom
        let outcome = acknowledgement.receive(
            sequence: header.sequence,
            nextExpected: header.nextExpected,
            hasRoom: hasRoom
        )
        if outcome.isAcknowledged { complete() }
        if outcome.isNew, isAwake { deliver(header.content, payload) }
    }

    private func complete() {
        guard let outgoing = queue.acknowledged() else { return }
        if outgoing.endsPacket { owner.link(self, completed: 1) }
        let isTermination = outgoing.payload.first == ControlOpcode.terminateInd.rawValue
        if outgoing.content == .control, isTermination, ending == .awaitsAcknowledgement { end(.localHostTerminated) }
    }

    private func deliver(_ content: DataHeader.Content, _ payload: PacketBuffer) {
        switch content {
        case .reserved:
            // AB-L01: the numbers have moved on, so the link goes on; the content is nothing.
            break
        case .control:
            perform(control.receive(payload))
        case .start, .continuation:
            // An empty PDU is no data, and nothing is delivered once the link is being ended.
            guard !payload.isEmpty, ending == nil else { return }
            owner.link(self, received: payload, isStart: content == .start)
        }
    }

    /// Does what the control procedures decided.
    func perform(_ actions: [LinkControl.Action]) {
        for action in actions { perform(action) }
        updateProcedureTimer()
    }

    private func perform(_ action: LinkControl.Action) {
        switch action {
        case .send(let pdu):
            guard ending == nil else { return }
            queue.add(control: pdu.encoded())
            if pdu.opcode == .terminateInd { awaitTermination() }
            listenSooner()
        case .report(let report):
            acceptedOctets = max(acceptedOctets, Int(control.dataLength.rxOctets))
            owner.link(self, reports: report)
        case .applyTiming(let pdu):
            anchor = anchor + .microseconds(Int64(pdu.windowOffset) * LinkTiming.unit)
            if !isCentral { window = .microseconds(Int64(pdu.windowSize) * LinkTiming.unit) }
            restartSupervision()
        case .applyChannelMap(let map):
            channelMap = map
        case .end(let reason):
            end(reason)
        case .endAfterAnswer(let reason):
            ending = .owesAnswer(reason)
        }
    }

    /// A peer that never acknowledges LL_TERMINATE_IND is given up after the supervision timeout (5.1.6).
    private func awaitTermination() {
        ending = .awaitsAcknowledgement
        if let procedureTimer { loop.cancel(procedureTimer) }
        procedureTimer = loop.schedule(after: control.timing.timeoutDuration) { [unowned self] in
            end(.localHostTerminated)
        }
    }

    /// The peer has 40 s for each answer (Core Vol 6 Part B 5.2).
    private func updateProcedureTimer() {
        guard ending != .awaitsAcknowledgement else { return }
        guard control.awaitsPeer, ending == nil, supervision != nil else {
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

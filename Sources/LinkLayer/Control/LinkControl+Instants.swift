import HCI

/// The procedures that change the link at an instant, and how they stay out of each other's way.
extension LinkControl {
    /// A change may not come sooner than this many events after it was announced (Core Vol 6 Part B 5.1.1).
    static let minimumEventsAhead: UInt16 = 6

    // MARK: Connection update (5.1.1) and connection parameters request (5.1.7)

    mutating func startParameters(_ parameters: ConnectionParameters) {
        let canAsk =
            setup.features.contains(.connectionParametersRequest)
            && remoteFeatures?.contains(.connectionParametersRequest) ?? true
        guard canAsk else {
            // The central may tell where it cannot ask; the peripheral may not.
            if isCentral { return sendConnectionUpdate(parameters, isOwn: true) }
            return report(.parameters(.unsupportedRemoteFeature))
        }
        local = isCentral ? .parametersAwaitingResponse(parameters) : .parametersAwaitingIndication
        var pdu = parameters
        pdu.referenceCounter = counter
        send(.connectionParameterRequest(pdu))
    }

    private mutating func sendConnectionUpdate(_ parameters: ConnectionParameters, isOwn: Bool) {
        var pdu = ConnectionUpdateIndication()
        pdu.windowSize = 1
        pdu.interval = parameters.intervalMax
        pdu.latency = parameters.latency
        pdu.timeout = parameters.timeout
        pdu.instant = newInstant
        send(.connectionUpdate(pdu))
        schedule(.timing(pdu), at: pdu.instant, isOwn: isOwn)
    }

    /// The peripheral agrees, within what it was asked for: the central decides.
    mutating func takeParameterResponse(_ pdu: ConnectionParameters) {
        guard case .parametersAwaitingResponse(let asked) = local else { return }
        guard pdu.isValid else {
            local = nil
            refuse(.connectionParamRsp, .invalidLinkLayerParameters)
            return report(.parameters(.invalidLinkLayerParameters))
        }
        var agreed = asked
        if (asked.intervalMin...asked.intervalMax).contains(pdu.intervalMax) { agreed.intervalMax = pdu.intervalMax }
        isAnswered = true
        sendConnectionUpdate(agreed, isOwn: true)
    }

    /// A peripheral that does not know the question is told (5.1.7.1); one that says no is left as it is.
    mutating func takeParameterRefusal(_ error: HCIStatus, wanted: ConnectionParameters) {
        guard error == .unsupportedRemoteFeature else { return report(.parameters(error)) }
        sendConnectionUpdate(wanted, isOwn: true)
    }

    mutating func takeParameterRequest(_ pdu: ConnectionParameters) {
        guard mayBegin(.connectionParamReq) else { return }
        guard remote == nil else {
            refuse(.connectionParamReq, .linkLayerProcedureCollision)
            return
        }
        guard pdu.isValid else {
            refuse(.connectionParamReq, .invalidLinkLayerParameters)
            return
        }
        // What is the case already needs no host.
        if pdu.allows(timing) {
            var same = pdu
            same.intervalMax = timing.interval
            same.intervalMin = timing.interval
            return agree(to: same, asked: pdu)
        }
        // A host that does not listen to the event cannot answer (5.1.7.2).
        guard setup.hostAnswersParameters() else {
            refuse(.connectionParamReq, .unsupportedRemoteFeature)
            return
        }
        remote = .parametersAwaitingHost(pdu)
        report(.parameterRequest(pdu))
    }

    private mutating func agree(to parameters: ConnectionParameters, asked: ConnectionParameters) {
        remote = nil
        if isCentral { return sendConnectionUpdate(parameters, isOwn: false) }
        remote = .parametersAwaitingIndication
        var pdu = parameters
        pdu.referenceCounter = asked.referenceCounter
        send(.connectionParameterResponse(pdu))
    }

    /// The host agrees. Nil when it was not asked.
    mutating func accept(_ parameters: ConnectionParameters) -> [Action]? {
        guard case .parametersAwaitingHost(let asked) = remote else { return nil }
        agree(to: parameters, asked: asked)
        return take()
    }

    /// The host does not agree. Nil when it was not asked.
    mutating func decline(_ reason: HCIStatus) -> [Action]? {
        guard case .parametersAwaitingHost = remote else { return nil }
        remote = nil
        refuse(.connectionParamReq, reason)
        return take()
    }

    mutating func takeConnectionUpdate(_ pdu: ConnectionUpdateIndication) {
        // AB-L04: what cannot be is not tried.
        let timing = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
        guard timing.isValid, isWindowValid(size: pdu.windowSize, offset: pdu.windowOffset, interval: pdu.interval)
        else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        let isOwn = local == .parametersAwaitingIndication
        begin(.timing(pdu), at: pdu.instant, isOwn: isOwn)
    }

    // MARK: Channel map update (5.1.2)

    mutating func startChannelMap(_ map: ChannelMap) {
        let instant = newInstant
        send(.channelMap(.init(map: map, instant: instant)))
        schedule(.channelMap(map), at: instant, isOwn: true)
    }

    mutating func takeChannelMap(_ pdu: ChannelMapIndication) {
        // AB-L04.
        guard pdu.map.isUsable else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        begin(.channelMap(pdu.map), at: pdu.instant, isOwn: false)
    }

    // MARK: Instants

    /// Far enough ahead for a peripheral that skips events.
    var newInstant: UInt16 {
        guard subrate.factor > 1 else { return counter &+ timing.latency &+ Self.minimumEventsAhead }
        // The event that is known may be the last one that was used, and only so many-th ones are.
        return counter &+ (timing.latency &+ Self.minimumEventsAhead &+ 1) &* subrate.factor
    }

    /// Takes a change that the central has announced, and ends the link when it cannot be (AB-L04): another change still
    /// waits for its instant (5.3), or the instant lies in the past (5.5.1). An instant is past when it is 32,767 or
    /// more events ahead, modulo 65,536. The event that runs is not past: what begins with it is in effect from now on.
    mutating func begin(_ change: Change, at instant: UInt16, isOwn: Bool) {
        if let pending {
            actions.append(.end(collisionCode(pending.change.kind, change.kind)))
        } else if instant &- counter >= 32_767 {
            actions.append(.end(.instantPassed))
        } else {
            schedule(change, at: instant, isOwn: isOwn)
            guard instant == counter else { return }
            pending = nil
            apply(change.late)
        }
    }

    mutating func schedule(_ change: Change, at instant: UInt16, isOwn: Bool) {
        pending = (instant, change)
        if isOwn { local = .awaitingInstant } else { remote = .awaitingInstant }
    }

    /// The instant is there.
    mutating func apply(_ change: Change) {
        let isOwn = local == .awaitingInstant
        if isOwn { local = nil }
        isAnswered = false
        if remote == .awaitingInstant { remote = nil }
        switch change {
        case .timing(let pdu):
            let new = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
            let isSame = new == timing
            if new.interval != timing.interval { endSubrating() }
            timing = new
            actions.append(.applyTiming(pdu))
            if isOwn || !isSame { report(.parameters(.success)) }
        case .channelMap(let map):
            actions.append(.applyChannelMap(map))
        case .phy(let tx, let rx):
            applyPHY(tx: tx, rx: rx, isOwn: isOwn)
        }
    }

    // MARK: Collisions (5.3)

    /// Whether the peer may begin a procedure with an instant now. If not, the central refuses it, or ends the link when
    /// the peer had already taken part in what is under way; the peripheral gives way to the central, unless that has
    /// named an instant itself.
    mutating func mayBegin(_ opcode: ControlOpcode) -> Bool {
        let kind: Change.Kind = opcode == .phyReq ? .phy : .timing
        guard isCentral else {
            guard let pending else { return true }
            actions.append(.end(collisionCode(pending.change.kind, kind)))
            return false
        }
        guard let own = kindUnderWay else { return true }
        let error = collisionCode(own, kind)
        if isAnswered { actions.append(.end(error)) } else { refuse(opcode, error) }
        return false
    }

    /// The procedure with an instant that a central runs, whoever has begun it.
    private var kindUnderWay: Change.Kind? {
        switch local {
        case .phyAwaitingResponse?: .phy
        case .parametersAwaitingResponse?: .timing
        default: pending?.change.kind ?? (remote == nil ? nil : .timing)
        }
    }

    /// One code when both are the same procedure, another one when they are not. The two ways to other connection
    /// parameters count as the same.
    private func collisionCode(_ a: Change.Kind, _ b: Change.Kind) -> HCIStatus {
        a == b ? .linkLayerProcedureCollision : .differentTransactionCollision
    }

    private mutating func take() -> [Action] {
        defer { actions = [] }
        return actions
    }
}

extension LinkControl.Change {
    /// What is being changed.
    enum Kind: Hashable {
        case timing
        case channelMap
        case phy
    }

    var kind: Kind {
        switch self {
        case .timing: .timing
        case .channelMap: .channelMap
        case .phy: .phy
        }
    }

    /// The change for an event that has begun: the anchor point that was heard is the new one already.
    var late: Self {
        guard case .timing(var pdu) = self else { return self }
        (pdu.windowOffset, pdu.windowSize) = (0, 0)
        return .timing(pdu)
    }
}

/// Whether a transmit window fits its interval (Core Vol 6 Part B 2.3.3.1, 2.4.2.1; AB-L03).
func isWindowValid(size: UInt8, offset: UInt16, interval: UInt16) -> Bool {
    size >= 1 && size <= 8 && UInt16(size) < interval && offset <= interval
}

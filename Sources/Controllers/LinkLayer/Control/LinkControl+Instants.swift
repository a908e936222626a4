import HCI

/// The procedures that change the link at an instant, and their collisions.
extension LinkControl {
    /// The minimum number of events from the announcement of a change to its instant (Core Vol 6 Part B 5.1.1).
    static let minimumEventsAhead: UInt16 = 6

    // MARK: Connection update (5.1.1) and connection parameters request (5.1.7)

    mutating func startParameters(_ parameters: ConnectionParameterRequest) {
        // A change of the subrating may have come between the host's command and its turn.
        guard allows(parameters.slowest) else { return report(.parameters(.invalidParameters)) }
        let canAsk =
            setup.features.contains(.connectionParametersRequest)
            && remoteFeatures?.contains(.connectionParametersRequest) ?? true
        guard canAsk else {
            // The central may use the connection update instead; the peripheral has no alternative.
            if isCentral { return sendConnectionUpdate(parameters, isOwn: true) }
            return report(.parameters(.unsupportedRemoteFeature))
        }
        procedures.start(isCentral ? .parametersAwaitingResponse(parameters) : .parametersAwaitingIndication)
        var pdu = parameters
        pdu.referenceCounter = counter
        send(.connectionParameterRequest(pdu))
    }

    /// Whether the link may change to this timing. If the interval stays, so does the subrating (5.1.1).
    func allows(_ new: LinkTiming) -> Bool {
        new.isValid(factor: new.interval == timing.interval ? subrate.factor : 1)
    }

    private mutating func sendConnectionUpdate(_ parameters: ConnectionParameterRequest, isOwn: Bool) {
        var pdu = ConnectionUpdateIndication()
        pdu.windowSize = 1
        pdu.interval = parameters.intervalMax
        pdu.latency = parameters.latency
        pdu.timeout = parameters.timeout
        pdu.instant = newInstant
        send(.connectionUpdate(pdu))
        schedule(.timing(pdu), at: pdu.instant, isOwn: isOwn)
    }

    /// Handles the peripheral's response. The central decides, within the range it has asked for.
    mutating func receiveParameterResponse(_ pdu: ConnectionParameterRequest) {
        guard case .parametersAwaitingResponse(let asked) = local else { return }
        var agreed = asked
        if (asked.intervalMin...asked.intervalMax).contains(pdu.intervalMax) { agreed.intervalMax = pdu.intervalMax }
        guard pdu.isValid, allows(agreed.slowest) else {
            procedures.end()
            refuse(.connectionParamRsp, .invalidLinkLayerParameters)
            return report(.parameters(.invalidLinkLayerParameters))
        }
        procedures.noteAnswer()
        sendConnectionUpdate(agreed, isOwn: true)
    }

    /// Handles the rejection of a parameter request. If the peripheral does not support the procedure, the central
    /// updates the connection instead (5.1.7.1); any other rejection is respected.
    mutating func receiveParameterRefusal(_ error: HCIStatus, wanted: ConnectionParameterRequest) {
        guard error == .unsupportedRemoteFeature else { return report(.parameters(error)) }
        sendConnectionUpdate(wanted, isOwn: true)
    }

    mutating func receiveParameterRequest(_ pdu: ConnectionParameterRequest) {
        guard mayBegin(.connectionParamReq) else { return }
        guard remote == nil else {
            refuse(.connectionParamReq, .linkLayerProcedureCollision)
            return
        }
        guard pdu.isValid else {
            refuse(.connectionParamReq, .invalidLinkLayerParameters)
            return
        }
        // The host need not be asked if the current timing fits.
        if pdu.allows(timing) {
            var same = pdu
            same.intervalMax = timing.interval
            same.intervalMin = timing.interval
            return agree(to: same, asked: pdu)
        }
        // If the host has masked the event, it cannot respond (5.1.7.2).
        guard setup.hostAnswersParameters() else {
            refuse(.connectionParamReq, .unsupportedRemoteFeature)
            return
        }
        procedures.join(.parametersAwaitingHost(pdu))
        report(.parameterRequest(pdu))
    }

    private mutating func agree(to parameters: ConnectionParameterRequest, asked: ConnectionParameterRequest) {
        procedures.leave()
        if isCentral { return sendConnectionUpdate(parameters, isOwn: false) }
        procedures.join(.parametersAwaitingIndication)
        var pdu = parameters
        pdu.referenceCounter = asked.referenceCounter
        send(.connectionParameterResponse(pdu))
    }

    /// Accepts the peer's parameter request on behalf of the host. Returns nil if the host was not asked.
    mutating func accept(_ parameters: ConnectionParameterRequest) -> [Action]? {
        guard case .parametersAwaitingHost(let asked) = remote else { return nil }
        agree(to: parameters, asked: asked)
        return takeActions()
    }

    /// Rejects the peer's parameter request on behalf of the host. Returns nil if the host was not asked.
    mutating func decline(_ reason: HCIStatus) -> [Action]? {
        guard case .parametersAwaitingHost = remote else { return nil }
        procedures.leave()
        refuse(.connectionParamReq, reason)
        startNext()
        return takeActions()
    }

    mutating func receiveConnectionUpdate(_ pdu: ConnectionUpdateIndication) {
        // AB-L04: invalid parameters end the link.
        let timing = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
        guard allows(timing), isWindowValid(size: pdu.windowSize, offset: pdu.windowOffset, interval: pdu.interval)
        else {
            emit(.end(.invalidLinkLayerParameters))
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

    mutating func receiveChannelMap(_ pdu: ChannelMapIndication) {
        // AB-L04.
        guard pdu.map.isUsable else {
            emit(.end(.invalidLinkLayerParameters))
            return
        }
        begin(.channelMap(pdu.map), at: pdu.instant, isOwn: false)
    }

    // MARK: Instants

    /// An instant far enough ahead for a peripheral that skips events.
    var newInstant: UInt16 {
        guard subrate.factor > 1 else { return counter &+ timing.latency &+ Self.minimumEventsAhead }
        // The current event may be the last one used, and only every `factor`-th one is.
        return counter &+ (timing.latency &+ Self.minimumEventsAhead &+ 1) &* subrate.factor
    }

    /// Schedules a change that the central has announced, or ends the link if the change is invalid (AB-L04): another
    /// change still waits for its instant (5.3), or the instant has passed (5.5.1).
    ///
    /// An instant has passed if it is 32,767 or more events ahead, modulo 65,536. The current event has not passed: a
    /// change with this instant takes effect immediately.
    mutating func begin(_ change: Change, at instant: UInt16, isOwn: Bool) {
        if let pending {
            emit(.end(collisionCode(pending.change.kind, change.kind)))
        } else if instant &- counter >= 32_767 {
            emit(.end(.instantPassed))
        } else {
            schedule(change, at: instant, isOwn: isOwn)
            if let change = procedures.take(at: counter) { apply(change.late) }
        }
    }

    mutating func schedule(_ change: Change, at instant: UInt16, isOwn: Bool) {
        procedures.schedule(change, at: instant, isOwn: isOwn)
    }

    // MARK: Collisions (5.3)

    /// Whether the peer may start a procedure with an instant now.
    ///
    /// If not, the central rejects it, or ends the link if the peer has already taken part in the procedure in
    /// progress. The peripheral yields to the central, unless an instant is already pending: then it ends the link.
    mutating func mayBegin(_ opcode: ControlOpcode) -> Bool {
        let kind: Change.Kind = opcode == .phyReq ? .phy : .timing
        guard isCentral else {
            guard let pending else { return true }
            emit(.end(collisionCode(pending.change.kind, kind)))
            return false
        }
        guard let own = kindUnderWay else { return true }
        let error = collisionCode(own, kind)
        if procedures.isAnswered { emit(.end(error)) } else { refuse(opcode, error) }
        return false
    }

    /// The kind of the procedure with an instant in progress on a central, whichever device has started it.
    private var kindUnderWay: Change.Kind? {
        switch local {
        case .phyAwaitingResponse?: .phy
        case .parametersAwaitingResponse?: .timing
        default: pending?.change.kind ?? (remote == nil ? nil : .timing)
        }
    }

    /// Returns the error code of a collision: one for equal procedures, another for different ones. The two procedures
    /// that change the connection parameters count as equal.
    private func collisionCode(_ a: Change.Kind, _ b: Change.Kind) -> HCIStatus {
        a == b ? .linkLayerProcedureCollision : .differentTransactionCollision
    }
}

/// Whether a transmit window fits its interval (Core Vol 6 Part B 2.3.3.1, 2.4.2.1; AB-L03).
func isWindowValid(size: UInt8, offset: UInt16, interval: UInt16) -> Bool {
    size >= 1 && size <= 8 && UInt16(size) < interval && offset <= interval
}

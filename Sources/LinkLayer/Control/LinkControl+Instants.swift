import HCI

/// The procedures that change the link at an instant, and how they stay out of each other's way.
extension LinkControl {
    /// A change may not come sooner than this many events after it was announced (Core Vol 6 Part B 5.1.1).
    static let minimumEventsAhead: UInt16 = 6

    // MARK: Connection update (5.1.1) and connection parameters request (5.1.7)

    mutating func startParameters(_ parameters: ConnectionParameters) {
        if isCentral {
            sendConnectionUpdate(parameters, isOwn: true)
            return
        }
        if let remoteFeatures, !remoteFeatures.contains(.connectionParametersRequest) {
            report(.parameters(.unsupportedRemoteFeature))
            return
        }
        local = .parametersAwaitingIndication
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

    mutating func takeParameterRequest(_ pdu: ConnectionParameters) {
        guard setup.features.contains(.connectionParametersRequest) else {
            send(.unknown(.init(.connectionParamReq)))
            return
        }
        if isCentral, let error = collision(with: .connectionParamReq) {
            refuse(.connectionParamReq, error)
            return
        }
        guard remote == nil else {
            refuse(.connectionParamReq, .linkLayerProcedureCollision)
            return
        }
        let fastest = LinkTiming(interval: pdu.intervalMin, latency: pdu.latency, timeout: pdu.timeout)
        let slowest = LinkTiming(interval: pdu.intervalMax, latency: pdu.latency, timeout: pdu.timeout)
        guard pdu.intervalMin <= pdu.intervalMax, fastest.isValid, slowest.isValid else {
            refuse(.connectionParamReq, .invalidLinkLayerParameters)
            return
        }
        // A host that does not listen to the event cannot answer (5.1.7.2).
        guard setup.hostAnswersParameters() else {
            refuse(.connectionParamReq, .unsupportedRemoteFeature)
            return
        }
        remote = .parametersAwaitingHost(pdu)
        report(.parameterRequest(pdu))
    }

    /// The host agrees. Nil when it was not asked.
    mutating func accept(_ parameters: ConnectionParameters) -> [Action]? {
        guard case .parametersAwaitingHost(let asked) = remote else { return nil }
        remote = nil
        if isCentral {
            sendConnectionUpdate(parameters, isOwn: false)
        } else {
            remote = .parametersAwaitingIndication
            var pdu = parameters
            pdu.referenceCounter = asked.referenceCounter
            send(.connectionParameterResponse(pdu))
        }
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
        guard !isCentral else {
            send(.unknown(.init(.connectionUpdateInd)))
            return
        }
        // AB-L04: what cannot be is not tried.
        let timing = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
        guard timing.isValid, isWindowValid(size: pdu.windowSize, offset: pdu.windowOffset, interval: pdu.interval)
        else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        guard checkInstant(pdu.instant) else { return }
        let isOwn = local == .parametersAwaitingIndication
        schedule(.timing(pdu), at: pdu.instant, isOwn: isOwn)
    }

    // MARK: Channel map update (5.1.2)

    mutating func startChannelMap(_ map: ChannelMap) {
        let instant = newInstant
        send(.channelMap(.init(map: map, instant: instant)))
        schedule(.channelMap(map), at: instant, isOwn: true)
    }

    mutating func takeChannelMap(_ pdu: ChannelMapIndication) {
        guard !isCentral else {
            send(.unknown(.init(.channelMapInd)))
            return
        }
        // AB-L04.
        guard pdu.map.isUsable else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        guard checkInstant(pdu.instant) else { return }
        schedule(.channelMap(pdu.map), at: pdu.instant, isOwn: false)
    }

    // MARK: Instants

    /// Far enough ahead for a peripheral that skips events.
    var newInstant: UInt16 { counter &+ timing.latency &+ Self.minimumEventsAhead }

    /// Whether an instant that the central named is still to come, and nothing else waits for one. Ends the link
    /// otherwise (5.1.1, 5.3; AB-L04).
    mutating func checkInstant(_ instant: UInt16) -> Bool {
        if pending != nil {
            actions.append(.end(.differentTransactionCollision))
            return false
        }
        guard instant &- counter < 32_767, instant != counter else {
            actions.append(.end(.instantPassed))
            return false
        }
        return true
    }

    mutating func schedule(_ change: Change, at instant: UInt16, isOwn: Bool) {
        pending = (instant, change)
        if isOwn { local = .awaitingInstant } else { remote = .awaitingInstant }
    }

    /// The instant is there.
    mutating func apply(_ change: Change) {
        let isOwn = local == .awaitingInstant
        if isOwn { local = nil }
        if remote == .awaitingInstant { remote = nil }
        switch change {
        case .timing(let pdu):
            let new = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
            let isSame = new == timing
            timing = new
            actions.append(.applyTiming(pdu))
            if isOwn || !isSame { report(.parameters(.success)) }
        case .channelMap(let map):
            actions.append(.applyChannelMap(map))
        case .phy(let tx, let rx):
            applyPHY(tx: tx, rx: rx, isOwn: isOwn)
        }
    }

    /// The central refuses what the peripheral begins while a change of its own is under way (5.3): with one code when
    /// it is the same procedure, with another one when it is not.
    func collision(with opcode: ControlOpcode) -> HCIStatus? {
        let isPHY: Bool
        switch (local, pending?.change) {
        case (.phyAwaitingResponse?, _), (_, .phy?): isPHY = true
        case (_, .timing?): isPHY = false
        case (_, .channelMap?): return .differentTransactionCollision
        case (_, nil):
            if remote == nil { return nil }
            isPHY = false
        }
        return isPHY == (opcode == .phyReq) ? .linkLayerProcedureCollision : .differentTransactionCollision
    }

    private mutating func take() -> [Action] {
        defer { actions = [] }
        return actions
    }
}

/// Whether a transmit window fits its interval (Core Vol 6 Part B 2.3.3.1, 2.4.2.1; AB-L03).
func isWindowValid(size: UInt8, offset: UInt16, interval: UInt16) -> Bool {
    size >= 1 && size <= 8 && UInt16(size) < interval && offset <= interval
}

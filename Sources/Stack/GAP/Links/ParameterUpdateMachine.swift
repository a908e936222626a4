import HCI
import L2CAP

/// The state machine that updates the parameters of one link (Core Vol 3 Part C 9.3.9).
///
/// A central instructs its controller. A peripheral uses the link layer's request if both sides support it, and L2CAP's
/// otherwise.
struct ParameterUpdateMachine {
    /// The way of requesting parameters.
    enum Way: Hashable {
        /// By the link layer, or by L2CAP if the peer does not support that.
        case linkLayerFirst
        case linkLayer
        case l2cap
    }

    enum State: Hashable {
        case idle
        /// The controller is performing the update or asking the peer.
        case awaitsLinkLayer(ConnectionParameters, canFallBack: Bool)
        /// The central was asked by L2CAP.
        case awaitsAnswer(ConnectionParameters)
        /// The central has agreed, and its controller has yet to act (behaviour 3.30).
        case awaitsChange(ConnectionParameters)
    }

    enum Event {
        case request(ConnectionParameters, Way)
        case refused(GAPError)
        /// The controller changed the parameters to these or failed to, possibly at the peer's request.
        case completed(HCIStatus, interval: UInt16, latency: UInt16, timeout: UInt16)
        case answered(ParameterUpdateOutcome)
        case timeout
        case linkEnded(HCIStatus)
    }

    enum Action: Hashable {
        case askLinkLayer(ConnectionParameters)
        case askByL2CAP(ConnectionParameters)
        /// Start a timer with ``GAPTimer/connectionParameters``, or restart it.
        case startTimer
        case endTimer
        case finish(GAPError?)
    }

    private(set) var state = State.idle

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .request(let parameters, let way): return request(parameters, way)
        case .refused(let error): return refused(error)
        case .completed(let status, let interval, let latency, let timeout):
            return completed(status, interval, latency, timeout)
        case .answered(let outcome): return answered(outcome)
        case .timeout: return state == .idle ? [] : finish(.timedOut)
        case .linkEnded(let reason): return state == .idle ? [] : finish(.linkLost(reason))
        }
    }

    private mutating func request(_ parameters: ConnectionParameters, _ way: Way) -> [Action] {
        guard state == .idle else { return [.finish(.busy)] }
        guard parameters.isLegal else {
            return [.finish(.impossible("the specification does not allow these connection parameters"))]
        }
        if way == .l2cap {
            state = .awaitsAnswer(parameters)
            return [.askByL2CAP(parameters), .startTimer]
        }
        state = .awaitsLinkLayer(parameters, canFallBack: way == .linkLayerFirst)
        return [.askLinkLayer(parameters), .startTimer]
    }

    private mutating func refused(_ error: GAPError) -> [Action] {
        guard case .awaitsLinkLayer(let parameters, let canFallBack) = state else { return [] }
        return canFallBack ? fallBack(parameters) : finish(error)
    }

    private mutating func fallBack(_ parameters: ConnectionParameters) -> [Action] {
        state = .awaitsAnswer(parameters)
        return [.askByL2CAP(parameters), .startTimer]
    }

    private mutating func completed(
        _ status: HCIStatus,
        _ interval: UInt16,
        _ latency: UInt16,
        _ timeout: UInt16
    ) -> [Action] {
        func fits(_ wanted: ConnectionParameters) -> Bool {
            (wanted.intervalMinimum...wanted.intervalMaximum).contains(interval) && latency == wanted.latency
                && timeout == wanted.timeout
        }
        switch state {
        case .idle, .awaitsAnswer: return []
        case .awaitsLinkLayer(let wanted, let canFallBack):
            guard status != .success else { return fits(wanted) ? finish(nil) : [] }
            // The peer or its controller does not support the procedure (Core Vol 6 Part B 5.1.7).
            let isUnknown = status == .unsupportedRemoteFeature || status == .unsupportedLinkLayerParameter
            return canFallBack && isUnknown ? fallBack(wanted) : finish(.rejected(status))
        case .awaitsChange(let wanted):
            guard status == .success else { return finish(.rejected(status)) }
            return fits(wanted) ? finish(nil) : []
        }
    }

    private mutating func answered(_ outcome: ParameterUpdateOutcome) -> [Action] {
        guard case .awaitsAnswer(let wanted) = state else { return [] }
        switch outcome {
        case .accepted:
            state = .awaitsChange(wanted)
            return [.startTimer]
        case .rejected, .notUnderstood: return finish(.rejected(.unacceptableConnectionParameters))
        case .timedOut: return finish(.timedOut)
        case .busy: return finish(.busy)
        case .notAllowed: return finish(.impossible("only a peripheral can request parameters; a central sets them"))
        case .closed: return finish(.linkLost(.localHostTerminated))
        }
    }

    private mutating func finish(_ error: GAPError?) -> [Action] {
        state = .idle
        return [.endTimer, .finish(error)]
    }
}

import EventLoops
import HCI

/// The stage in the lifecycle of a link.
enum LinkStage {
    /// Created; no event has been scheduled.
    case new
    /// The next event starts when the timer fires, after `skipped` skipped events.
    case waiting(ScheduledTask, skipped: Int)
    /// An event is in progress and owns the radio.
    case awake(Running)
    case ended

    /// An event in progress.
    struct Running {
        var event: ConnectionEvent
        /// As peripheral: whether the central was received at the anchor point.
        var hasSynced = false
        /// The MD bit of the last PDU sent.
        var sentMoreData = false
        /// The timer for the next PDU to send, or for the end of listening.
        var timer: ScheduledTask?
    }

    var running: Running? {
        get {
            if case .awake(let running) = self { return running }
            return nil
        }
        set {
            guard case .awake = self, let newValue else { return }
            self = .awake(newValue)
        }
    }

    var timer: ScheduledTask? {
        if case .waiting(let timer, _) = self { return timer }
        return running?.timer
    }

    var isAwake: Bool {
        if case .awake = self { return true }
        return false
    }

    var hasEnded: Bool {
        if case .ended = self { return true }
        return false
    }
}

/// The stages in the termination of a link.
enum LinkEnding: Hashable {
    /// Waiting for the acknowledgement of LL_TERMINATE_IND; the host then receives this reason.
    case awaitsAcknowledgement(HCIStatus)
    /// The peer has terminated the link, and its PDU must be acknowledged.
    case owesAnswer(HCIStatus)
    /// The acknowledgement has been sent, and the link ends with this event.
    case answered(HCIStatus)

    var owesAnswer: Bool {
        if case .owesAnswer = self { return true }
        return false
    }

    /// The reason to report to the host.
    var reason: HCIStatus {
        switch self {
        case .awaitsAcknowledgement(let reason), .owesAnswer(let reason), .answered(let reason): reason
        }
    }
}

import EventLoops
import HCI

/// How far the life of a link has come.
enum LinkStage {
    /// Nothing has been prepared yet.
    case new
    /// The next event begins when the timer fires. So many before it are being slept through.
    case waiting(ScheduledTask, skipped: Int)
    /// An event runs, and has the radio.
    case awake(Running)
    /// Nothing comes any more.
    case ended

    /// An event that runs.
    struct Running {
        var event: ConnectionEvent
        /// As peripheral: whether the central was heard at the anchor point.
        var hasSynced = false
        /// The MD bit of the PDU that was sent last.
        var sentMoreData = false
        /// The next PDU is sent then, or the peer's is not waited for any longer.
        var timer: ScheduledTask?
    }

    /// The event that runs, if one does.
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

    /// What happens next, when nothing else does before.
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

/// How a link that still lives is coming to its end.
enum LinkEnding: Hashable {
    /// LL_TERMINATE_IND has to arrive at the peer; then the host is told this.
    case awaitsAcknowledgement(HCIStatus)
    /// The peer has ended the link, and has to be told that this has arrived.
    case owesAnswer(HCIStatus)
    /// It has been told, and the link ends with the event.
    case answered(HCIStatus)

    /// What the host is told, whichever way it goes.
    var reason: HCIStatus {
        switch self {
        case .awaitsAcknowledgement(let reason), .owesAnswer(let reason), .answered(let reason): reason
        }
    }
}

/// Whether the peer has been there so far (Core Vol 6 Part B 4.5): a link is established with the first PDU that comes.
enum PeerPresence: Hashable {
    /// Nothing has come since the link was made.
    case awaited(since: Instant)
    /// Something has come, the last of it then.
    case heard(Instant)

    var isEstablished: Bool {
        if case .heard = self { return true }
        return false
    }

    /// What the time without the peer is counted from.
    var last: Instant {
        switch self {
        case .awaited(let instant), .heard(let instant): instant
        }
    }
}

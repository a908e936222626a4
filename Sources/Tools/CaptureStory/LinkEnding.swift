import HCI

/// How a link ended, or why its story does.
enum LinkEnding: Sendable {
    /// A reason that the controller reported or that an end sent, and the end that disconnected; nil if neither did.
    case reported(HCIStatus, by: StorySide?)
    /// A sniffer heard no frame of the link for longer than the supervision timeout.
    case silent
    case reset
    /// Another link has the same handle, whose beginning means that this one has ended.
    case replaced
    /// The story keeps no more links.
    case evicted
    case endOfCapture

    /// The reason in words; nil if the link has not ended.
    var reason: String? {
        switch self {
        case .reported(let status, _): "\(status)"
        case .silent: "not seen any more: longer silent than the supervision timeout"
        case .reset: "the controller was reset"
        case .replaced: "replaced by another link with the same handle"
        case .evicted, .endOfCapture: nil
        }
    }

    /// The end that disconnected.
    var initiator: StorySide? {
        if case .reported(_, let side) = self { side } else { nil }
    }

    /// Returns the end of a link that a controller reports.
    ///
    /// - Parameter isRequested: Whether the host has sent Disconnect.
    init(_ status: HCIStatus, isRequested: Bool) {
        switch status {
        case .connectionTimeout, .linkLayerResponseTimeout:
            // An end that has sent LL_TERMINATE_IND waits no longer than the supervision timeout for the
            // acknowledgement (Core Vol 6 Part B 5.1.6).
            self = .reported(status, by: isRequested ? .near : nil)
        case .instantPassed, .terminatedByMICFailure, .connectionFailedToBeEstablished, .advertisingTimeout:
            self = .reported(status, by: nil)
        case .localHostTerminated: self = .reported(status, by: .near)
        default: self = .reported(status, by: isRequested ? .near : .far)
        }
    }
}

import EventLoops
import ServiceMessages

/// 12.4: a scan without a pause in the foreground. A scan that replaces another one continues it. In the background a
/// scan may run on: the system gives it little time (behaviour 2.27). Once it has led to a connection, its length is up
/// to ``ScanUntilFound``, so that there is one advice for one mistake.
struct LongScan: CentralDetector {
    private enum State: Sendable {
        case off
        case hidden
        case running(since: Instant)
        /// The scan has led to a connection, and no further one is wanted so far.
        case found
        case reported
    }

    private var state = State.off

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard let scan = picture.scan else { return state = .off }
        switch state {
        case _ where context.isHidden: state = .hidden
        case .off: state = .running(since: scan.since)
        case .hidden: state = .running(since: context.now)
        case .running where step.connects: state = .found
        case .found where step.wantsConnection: state = .running(since: context.now)
        case .running, .found, .reported: break
        }
        guard case .running(let since) = state, context.now - since > AdviceThresholds.scan else { return }
        state = .reported
        findings.add(
            .shortScans,
            at: scan.site,
            "scanned for more than \(AdviceThresholds.scan.words) without a pause"
        )
    }
}

extension CentralStep {
    fileprivate var connects: Bool { if case (_, .connected)? = peerEvent { true } else { false } }
    fileprivate var wantsConnection: Bool { if case .requested(.peer(_, .connect)) = self { true } else { false } }
}

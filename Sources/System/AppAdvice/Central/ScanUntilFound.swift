import EventLoops
import Foundation
import ServiceMessages

/// 12.1: a scan continues after `didConnect`, and no other device that it found is used.
struct ScanUntilFound: CentralDetector {
    private enum State: Sendable {
        case searching
        case found(Instant)
        case reported
    }

    private var state = State.searching

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch (step, state) {
        case (.requested(.stopScan), _), (.changed, _): state = .searching
        // The app wants another device of the same scan.
        case (.requested(.peer(_, .connect)), .found): state = .searching
        case (.told(.peer(_, .connected)), .searching) where picture.scan != nil: state = .found(context.now)
        case (.passed, .found(let since)) where context.now - since > AdviceThresholds.scanAfterConnection:
            state = .reported
            findings.add(
                .scanUntilFound,
                at: picture.scan?.site,
                "still scanned \((context.now - since).words) after it had connected, and used no other device"
            )
        default: break
        }
    }
}

import EventLoops
import Foundation
import ServiceMessages

/// 12.14: advertising that goes on after a central has come, or that brings none.
struct EndlessAdvertising: PeripheralDetector {
    private enum State: Sendable {
        case alone(since: Instant)
        case found(at: Instant)
        case reported
    }

    /// Nil while the app does not advertise.
    private var state: State?

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch (step, state) {
        case (.requested(.startAdvertising), nil): state = .alone(since: context.now)
        case (.told(.willRestore(let restored)), _) where restored.advertising != nil:
            state = .alone(since: context.now)
        case (.requested(.stopAdvertising), _), (.closed, _), (.changed, _): state = nil
        case (.passed, .alone(let since)) where context.now - since > AdviceThresholds.advertisingAlone:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: picture.advertisingSite,
                "advertised for more than \(AdviceThresholds.advertisingAlone.words), and no central came"
            )
        case (.passed, .found(let time)) where context.now - time > AdviceThresholds.advertisingAfterCentral:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: picture.advertisingSite,
                "still advertised \(AdviceThresholds.advertisingAfterCentral.words) after a central had come"
            )
        case (_, .alone): if step.central != nil { state = .found(at: context.now) }
        default: break
        }
    }
}

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
    /// The place of the call that started to advertise.
    private var site: CallSite?

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch (step, state) {
        case (.requested(.startAdvertising), nil): (state, site) = (.alone(since: context.now), context.site)
        case (.told(.willRestore(let restored)), _) where restored.advertising != nil:
            state = .alone(since: context.now)
        case (.requested(.stopAdvertising), _), (.told(.advertisingStarted(_?, number: _)), _): state = nil
        // A restored manager goes on when it is powered on.
        case (.changed(let radio), _) where radio != .poweredOn: state = nil
        case (.passed, .alone(let since)) where context.now - since > AdviceThresholds.advertisingAlone:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: site,
                "advertised for more than \(AdviceThresholds.advertisingAlone.words), and no central came"
            )
        case (.passed, .found(let time)) where context.now - time > AdviceThresholds.advertisingAfterCentral:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: site,
                "still advertised \(AdviceThresholds.advertisingAfterCentral.words) after a central had come"
            )
        case (_, .alone): if step.central != nil { state = .found(at: context.now) }
        default: break
        }
    }
}

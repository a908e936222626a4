import EventLoops
import ServiceMessages

/// 12.15: advertising that begins so soon after launch that no user can have decided on it. A restored manager
/// continues what a user decided before.
struct AdvertisingAtLaunch: PeripheralDetector {
    private let began: Instant
    private var isRestored = false

    init(began: Instant) {
        self.began = began
    }

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .told(.willRestore): isRestored = true
        case .requested(.startAdvertising) where !isRestored && context.now - began < AdviceThresholds.launch:
            findings.add(.userDecides, "advertised within \(AdviceThresholds.launch.words) of its launch")
        default: break
        }
    }
}

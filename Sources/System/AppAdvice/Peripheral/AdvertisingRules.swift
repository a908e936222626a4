import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// 12.15: advertising that begins so soon after launch that no user can have decided on it. A restored manager
/// continues what a user decided before.
struct AdvertisingAtLaunch: PeripheralDetector {
    private let began: Instant
    private var isRestored = false

    init(began: Instant) {
        self.began = began
    }

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        switch step {
        case .delivered(.willRestore): isRestored = true
        case .requested(.startAdvertising) where !isRestored && findings.now - began < AdviceThresholds.launch:
            findings.add(.userDecides, "advertised within \(AdviceThresholds.launch.words) of its launch")
        default: break
        }
    }
}

/// 12.16: an advertisement that does not fit, so that a service moves to the overflow area, where only Apple's devices
/// that look for it find it, or the name is shortened (behaviours 7.21, 7.22).
struct OverfullAdvertisement: PeripheralDetector {
    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        guard case .requested(.startAdvertising(let request)) = step, !findings.isHidden else { return }
        let content = AdvertisingContent(localName: request.localName, services: request.services)
        let plan = AdvertisingPlanner.plan(for: [content])
        if !plan.overflow.isEmpty {
            findings.add(
                .fittingAdvertisement,
                attribute: 0,
                "advertised \(count(request.services.count, "service")), of which \(plan.overflow.count) did not fit and "
                    + "went to the overflow area: \(plan.overflow.prefix(4).map(\.words).joined(separator: ", "))"
            )
        }
        if let shortened = plan.shortenedName {
            findings.add(
                .fittingAdvertisement,
                attribute: 1,
                "advertised a name that was shortened to \"\(shortened)\""
            )
        }
    }
}

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

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        switch (step, state) {
        case (.requested(.startAdvertising), nil): (state, site) = (.alone(since: findings.now), findings.site)
        case (.delivered(.willRestore(let restored)), _) where restored.advertising != nil:
            state = .alone(since: findings.now)
        case (.requested(.stopAdvertising), _), (.delivered(.advertisingStarted(_?, number: _)), _): state = nil
        // A restored manager goes on when it is powered on.
        case (.changed(let radio), _) where radio != .poweredOn: state = nil
        case (.passed, .alone(let since)) where findings.now - since > AdviceThresholds.advertisingAlone:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: site,
                "advertised for more than \(AdviceThresholds.advertisingAlone.words), and no central came"
            )
        case (.passed, .found(let time)) where findings.now - time > AdviceThresholds.advertisingAfterCentral:
            state = .reported
            findings.add(
                .stopAdvertising,
                at: site,
                "still advertised \(AdviceThresholds.advertisingAfterCentral.words) after a central had come"
            )
        case (_, .alone): if step.central != nil { state = .found(at: findings.now) }
        default: break
        }
    }
}

import EventLoops
import Foundation
import ServiceMessages

/// Detects calls before poweredOn (12.23). The app's own side finds them, and reports them as misuse (behaviour 1.6).
struct EarlyCalls: Sendable {
    /// The words of `CoreBluetooth` for such a call, which are Apple's.
    static let sign = "can only accept this command while in the powered on state"

    mutating func accept(_ text: String, _ findings: inout Findings) {
        guard let range = text.range(of: Self.sign) else { return }
        let call = text[range.upperBound...].drop { ": ".contains($0) }
        findings.add(.waitForPower, "called \(call) before it was told that Bluetooth is on")
    }
}

/// Detects long times in the background after an event (12.25).
struct LongWakes: Sendable {
    /// The last event of a stay in the background that began with one.
    private var woken: Instant?
    private var wasSuspended = false

    mutating func accept(_ phase: AppPhase, at now: Instant, _ findings: inout Findings) {
        if let woken, phase != .background {
            let time = now - woken
            if time > AdviceThresholds.wake, phase == .suspended {
                findings.add(.shortWakes, "ran for \(time.words) in the background after an event woke it")
            }
            self.woken = nil
        }
        if wasSuspended, phase == .background { woken = now }
        wasSuspended = phase == .suspended
    }

    /// Notes a further event, which gives the app as much time again (behaviour 9.7).
    mutating func renew(at now: Instant) {
        if woken != nil { woken = now }
    }
}

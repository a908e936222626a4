import EventLoops
import ServiceMessages

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

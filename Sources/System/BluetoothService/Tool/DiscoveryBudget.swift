import EventLoops
import ServiceMessages

/// Limits the discoveries in a stream of events. In a crowd, a scan that reports duplicates has thousands a second, and
/// each would cost the service more to describe than to report to the app.
struct DiscoveryBudget {
    /// The maximum number of discoveries in the stream during each second.
    static let maximum = 100

    private var begin: Instant?
    private var count = 0
    private var leftOut = 0

    /// Whether an event counts as a discovery, as the release of a peripheral does. An app that keeps no peripherals
    /// releases one for each discovery.
    static func counts(_ content: Observation.Content) -> Bool {
        if case .told(.central(.discovered)) = content { return true }
        guard case .requested(.central(.peer(_, let request))) = content, case .forget = request else { return false }
        return true
    }

    /// Returns whether the stream may have another discovery. Counts the ones it may not have.
    mutating func admit(at now: Instant) -> Bool {
        if begin.map({ now - $0 >= .seconds(1) }) ?? true { (begin, count) = (now, 0) }
        guard count < Self.maximum else {
            leftOut += 1
            return false
        }
        count += 1
        return true
    }

    /// Returns the number of discoveries that were left out since the last call.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

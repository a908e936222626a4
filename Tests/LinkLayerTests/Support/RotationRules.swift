import EventLoops

@testable import LinkLayer

extension RotatingAddress.Rules {
    /// Creates rules under which every address has the same lifetime.
    init(now: Instant, timeout: Duration, random: RandomSource) {
        self.init(now: now, lifetimes: timeout...timeout, random: random)
    }
}

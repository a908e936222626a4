import EventLoops

@testable import LinkLayer

extension RotatingAddress.Rules {
    /// Every address lasts for the same time.
    init(now: Instant, timeout: Duration, random: RandomSource) {
        self.init(now: now, lifetimes: timeout...timeout, random: random)
    }
}

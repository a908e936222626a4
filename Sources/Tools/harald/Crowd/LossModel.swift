import Foundation

/// The expected distribution of the number of PDUs that a device loses on one channel.
///
/// Each PDU is lost with the same probability, but not independently. Two devices whose events have just collided are
/// close to each other in their next events as well, since advDelay moves them by a few milliseconds only. So some
/// devices have more neighbours than others throughout the simulation, and the numbers vary more than those of
/// independent events. The model is a beta-binomial distribution with the variance that follows from the renewal
/// processes.
struct LossModel {
    /// The number of events from which on a collision no longer affects the next one.
    private static let longestMemory = 2_000

    private let group: AdvertiserGroup
    private let groups: [AdvertiserGroup]
    private let survival: Double

    /// - Parameters:
    ///   - groups: All advertisers, including those of `group`.
    ///   - survival: The probability that a PDU of `group` is not lost.
    init(_ group: AdvertiserGroup, among groups: [AdvertiserGroup], survival: Double) {
        self.group = group
        self.groups = groups
        self.survival = survival
    }

    /// Returns the probabilities that a device loses at most each of these fractions of its PDUs within `seconds`.
    func devices(losingAtMost fractions: [Double], within seconds: Double) -> [Double] {
        let mean = group.rate * seconds
        let count = Int(mean)
        let more = distribution(ofAtMost: fractions, events: count + 1)
        guard count > 0 else { return more }
        let share = mean - Double(count)
        return zip(distribution(ofAtMost: fractions, events: count), more).map { $0 * (1 - share) + $1 * share }
    }

    private func distribution(ofAtMost fractions: [Double], events: Int) -> [Double] {
        let correlation = correlation(events)
        let cumulative = (0...events).reduce(into: [Double]()) { sums, number in
            let chance = Self.chance(of: number, in: events, 1 - survival, correlation)
            sums.append((sums.last ?? 0) + chance)
        }
        // The margin absorbs the rounding of fractions.
        return fractions.map { fraction in
            let number = Int(fraction * Double(events) + 1e-9)
            return number >= events ? 1 : min(cumulative[number], 1)
        }
    }

    /// The correlation of two PDUs of a device, averaged over all pairs among a number of events.
    func correlation(_ events: Int) -> Double {
        guard events > 1, survival > 0, survival < 1 else { return 0 }
        let sum = (1..<min(events, Self.longestMemory)).reduce(0.0) { sum, lag in
            sum + Double(events - lag) * covariance(lag)
        }
        return sum * 2 / (Double(events) * Double(events - 1)) / (survival * (1 - survival))
    }

    /// The covariance of the fates of two PDUs, `lag` events apart.
    private func covariance(_ lag: Int) -> Double {
        let exponent = groups.reduce(0.0) { exponent, other in
            let close = other.closeness(to: group)
            let both = close * other.span(group) * density(of: other, lag: lag)
            return exponent + Double(other.others(than: group)) * (log1p(both - 2 * close) - 2 * log1p(-close))
        }
        return survival * survival * expm1(exponent)
    }

    /// The density, per second, of events of a device of `other` that has collided `lag` events ago, at the time of the
    /// event of this group's device. It approaches the rate of `other` with time.
    private func density(of other: AdvertiserGroup, lag: Int) -> Double {
        let past = Double(lag) / group.rate
        let spread = (2 * past * max(group.rate, other.rate)).squareRoot() * AdvertiserGroup.delayDeviation * 5
        let first = max(Int(((past - spread) * other.rate).rounded(.up)), 1)
        let last = Int((past + spread) * other.rate)
        return (first..<max(last + 1, first)).reduce(0.0) { sum, number in
            let deviation = Double(lag + number).squareRoot() * AdvertiserGroup.delayDeviation
            let distance = (Double(number) / other.rate - past) / deviation
            return sum + exp(-distance * distance / 2) / (deviation * (2 * Double.pi).squareRoot())
        }
    }

    /// Returns the probability of `number` losses in `events` events, each with probability `chance`.
    static func chance(of number: Int, in events: Int, _ chance: Double, _ correlation: Double) -> Double {
        guard chance > 0, chance < 1 else { return number == (chance > 0 ? events : 0) ? 1 : 0 }
        let (kept, number) = (Double(events - number), Double(number))
        let ways = lgamma(Double(events + 1)) - lgamma(number + 1) - lgamma(kept + 1)
        // Below, the gamma functions cancel each other to rounding errors.
        guard correlation > 1e-7 else { return exp(ways + number * log(chance) + kept * log1p(-chance)) }
        let scale = 1 / min(correlation, 0.999) - 1
        let (lost, survived) = (chance * scale, (1 - chance) * scale)
        return exp(ways + beta(number + lost, kept + survived) - beta(lost, survived))
    }

    /// The logarithm of the beta function.
    private static func beta(_ a: Double, _ b: Double) -> Double { lgamma(a) + lgamma(b) - lgamma(a + b) }
}

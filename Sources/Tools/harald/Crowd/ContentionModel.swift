import Foundation
import LinkLayer

/// The expected results of a crowd: unslotted contention, as in pure ALOHA, of a finite number of regular senders.
struct ContentionModel: Sendable {
    private let groups: [AdvertiserGroup]

    init(_ groups: [AdvertiserGroup]) {
        self.groups = groups
    }

    /// Returns the probability that a PDU of a group overlaps no other one on its channel.
    ///
    /// The events of an advertiser are a renewal process and not a Poisson process: at most one of them starts within
    /// two air times. Its phase is independent of that of others, so the probability that one does is exactly its rate
    /// times that span. The result is the product over all other advertisers. It is the same on each channel, because
    /// an advertiser's PDUs on a channel are a fixed time after its events.
    func survival(_ group: AdvertiserGroup) -> Double {
        groups.reduce(1) { $0 * pow(1 - $1.closeness(to: group), Double($1.others(than: group))) }
    }

    /// The fraction of all PDUs that are lost.
    var lost: Double {
        let sent = groups.reduce(0) { $0 + Double($1.count) * $1.rate }
        return sent > 0 ? 1 - surviving / sent : 0
    }

    /// The number of PDUs per second that survive on one channel.
    private var surviving: Double { groups.reduce(0) { $0 + Double($1.count) * $1.rate * survival($1) } }

    /// Returns the number of reports per second to an observer. At any time in its scan windows it listens on one
    /// channel, and each event has one PDU there.
    func reportRate(_ scan: ScanKind) -> Double { surviving * scan.duty }

    /// Returns the fractions of the devices that an observer has discovered after these times, in seconds and in
    /// ascending order.
    func discovered(after times: [Double], _ scan: ScanKind) -> [Double] {
        average(count: times.count) { group in
            var model = DiscoveryModel(
                interval: group.interval,
                maximumDelay: Int64(LegacyEventTiming.maximumDelay),
                survival: survival(group),
                scan: scan
            )
            return model.discovered(afterEvents: times.map { $0 * group.rate })
        }
    }

    /// Returns the fractions of the devices of which at most each of these fractions of the PDUs on a channel are lost
    /// within `seconds`.
    func devices(losingAtMost fractions: [Double], within seconds: Double) -> [Double] {
        average(count: fractions.count) { group in
            LossModel(group, among: groups, survival: survival(group))
                .devices(losingAtMost: fractions, within: seconds)
        }
    }

    /// Returns the averages over all devices.
    private func average(count: Int, _ values: (AdvertiserGroup) -> [Double]) -> [Double] {
        let devices = groups.reduce(0) { $0 + $1.count }
        return groups.reduce([Double](repeating: 0, count: count)) { sums, group in
            zip(sums, values(group)).map { $0 + $1 * Double(group.count) / Double(devices) }
        }
    }
}

extension AdvertiserGroup {
    /// The standard deviation of advDelay, in seconds.
    static let delayDeviation = Double(LegacyEventTiming.maximumDelay) / 1e6 / 12.0.squareRoot()

    /// The number of devices of this group, apart from one of `other`.
    func others(than other: AdvertiserGroup) -> Int { self == other ? count - 1 : count }

    /// Returns the length, in seconds, of the span in which the start of a PDU of this group collides with a PDU of
    /// `other`: its own air time before that PDU starts, and the air time of that PDU after. Times are whole
    /// microseconds, and PDUs that only touch do not collide.
    func span(_ other: AdvertiserGroup) -> Double { Double(timing.airTime + other.timing.airTime - 1) / 1e6 }

    /// Returns the probability that a device of this group collides with a certain PDU of `other`.
    func closeness(to other: AdvertiserGroup) -> Double { min(rate * span(other), 1) }
}

import Foundation
import LinkLayer
import Testing

@testable import harald

@Suite struct ContentionModelTests {
    struct Crowd: CustomTestStringConvertible {
        var phones: Int
        var accessories = 0
        /// The advertising intervals, in milliseconds.
        var intervals: (phones: Double, accessories: Double)
        var seconds: Int
        var seed: UInt64 = 1

        init(_ phones: Int, every interval: Double, seconds: Int, accessories: (Int, every: Double) = (0, 20)) {
            self.phones = phones
            self.accessories = accessories.0
            self.seconds = seconds
            intervals = (interval, accessories.every)
        }

        var configuration: CrowdConfiguration {
            var crowd = CrowdConfiguration()
            (crowd.phones, crowd.accessories, crowd.seconds, crowd.seed) = (phones, accessories, seconds, seed)
            crowd.phoneInterval = .microseconds(Int64(intervals.phones * 1_000))
            crowd.accessoryInterval = .microseconds(Int64(intervals.accessories * 1_000))
            return crowd
        }

        var testDescription: String {
            "\(phones) at \(intervals.phones) ms, \(accessories) at \(intervals.accessories) ms"
        }
    }

    // ADV_IND with 24 octets of data, at 8 us per octet. Then 150 us of silence, 4 of margin and 150 to change the
    // channel.
    @Test func eventsHaveTheTimingOfTheLinkLayer() throws {
        let phones = try #require(Crowd(1, every: 417.5, seconds: 1).configuration.groups.first)
        #expect(phones.timing.airTime == (1 + 4 + 2 + 6 + 24 + 3) * 8)
        #expect(phones.timing.spacing == phones.timing.airTime + 304)
        #expect(abs(phones.rate - 1 / 0.4224995) < 1e-6)
    }

    // Half of the mass of the delay is before 10 ms * (1 - sqrt(1/2)).
    @Test func theFirstEventIsThatOfARunningProcess() {
        let group = AdvertiserGroup(count: 1, interval: .milliseconds(20), dataOctets: 24)
        #expect(group.firstEvent(0) == 0)
        #expect(abs(group.firstEvent(0.4) - 10_000) < 2)
        #expect(abs(group.firstEvent(0.9) - (20_000 + 2_929)) < 5)
        #expect((29_900..<30_000).contains(group.firstEvent(0.999_999)))
    }

    @Test func theProductIsCloseToThatOfALOHA() throws {
        let groups = Crowd(1_000, every: 417.5, seconds: 1).configuration.groups
        let phones = try #require(groups.first)
        let aloha = exp(-2 * 999 * phones.rate * 320e-6)
        #expect(abs(ContentionModel(groups).survival(phones) / aloha - 1) < 0.01)
        #expect(ContentionModel(Crowd(1, every: 20, seconds: 1).configuration.groups).lost == 0)
    }

    /// Crowds of which enough remains that chance makes 1 to 2 in 100. The last one is half of the default crowd.
    private static let crowds = [
        Crowd(10, every: 20, seconds: 20), Crowd(50, every: 20, seconds: 10),
        Crowd(10, every: 100, seconds: 60), Crowd(300, every: 100, seconds: 10),
        Crowd(10, every: 1_000, seconds: 120), Crowd(2_000, every: 1_000, seconds: 10),
        Crowd(600, every: 417.5, seconds: 10, accessories: (100, every: 152.5)),
        Crowd(5_000, every: 1_285, seconds: 20, accessories: (500, every: 1_285)),
    ]

    @Test(arguments: crowds)
    func reportsComeAtTheRateThatContentionLeaves(crowd: Crowd) throws {
        let statistics = CrowdStatistics(crowd.configuration, scans: [.continuous])
        #expect(abs(statistics.lost - statistics.lostExpected) < 0.015)
        let scan = try #require(statistics.scans.first)
        #expect(abs(scan.deviation) < 0.03, "\(scan.reports) of \(scan.reportsExpected)")
    }

    @Test func binomial() {
        #expect(abs(LossModel.chance(of: 1, in: 3, 0.5, 0) - 0.375) < 1e-9)
        #expect(LossModel.chance(of: 3, in: 3, 1, 0) == 1)
        #expect(LossModel.chance(of: 3, in: 3, 0, 0) == 0)
        #expect(abs(LossModel.chance(of: 550, in: 1_000, 0.5, 0) - 0.000_169_4) < 1e-6)
    }

    // With a correlation of 1/3 and even chances the distribution is uniform.
    @Test(arguments: 0...4)
    func correlatedLosses(number: Int) {
        #expect(abs(LossModel.chance(of: number, in: 4, 0.5, 1.0 / 3) - 0.2) < 1e-9)
    }

    // Two events 5 ms apart on average collide again with some 6 in 100; independent ones would with 2 in 1,000.
    @Test func aCollisionMakesTheNextOneLikely() throws {
        let group = AdvertiserGroup(count: 2, interval: .milliseconds(417.5), dataOctets: 24)
        let correlation = LossModel(group, among: [group], survival: 1 - group.closeness(to: group)).correlation(2)
        #expect((0.05...0.07).contains(correlation))
    }

    // 60 ms plus 10 ms at most, beside a scan of 30 in 60 ms: a device that starts in the pause stays there for six
    // events on average at 5 ms each, while independent events would leave one device in 64 after six.
    @Test func anIntervalNearThatOfTheScanMissesTheWindowForLong() {
        var model = DiscoveryModel(interval: 60_000, maximumDelay: 10_000, survival: 1, scan: ScanKind.apps[0])
        let found = model.discovered(afterEvents: [0, 0.5, 1, 2, 4, 20])
        #expect(found[0] == 0)
        #expect(abs(found[1] - 0.25) < 1e-9)
        #expect(abs(found[2] - 0.5) < 1e-9)
        #expect(abs(found[3] - 7.0 / 12) < 0.01)
        #expect((0.73...0.77).contains(found[4]))
        #expect(abs(found[5] - 1) < 1e-6)
    }

    @Test func aScanWithoutPausesIsGeometric() {
        var model = DiscoveryModel(interval: 417_500, maximumDelay: 10_000, survival: 0.5, scan: .continuous)
        for (found, expected) in zip(model.discovered(afterEvents: [1, 2, 3]), [0.5, 0.75, 0.875]) {
            #expect(abs(found - expected) < 1e-9)
        }
    }
}

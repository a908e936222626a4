import EventLoops
import Foundation
import Testing

@testable import harald

@Suite struct CrowdReportTests {
    private static let small: CrowdConfiguration = {
        var crowd = CrowdConfiguration()
        crowd.phones = 320
        crowd.accessories = 32
        crowd.seconds = 10
        crowd.services = 2
        return crowd
    }()

    @Test func theSameSeedHasTheSameResult() {
        var other = Self.small
        other.seed = 2
        let report = CrowdReport(Self.small)
        #expect(CrowdReport(Self.small) == report)
        #expect(CrowdReport(other).crowds != report.crowds)
    }

    @Test func partsOfTheCrowdHalve() {
        var sizes: [Int] = []
        let report = CrowdReport(Self.small) { sizes.append($0) }
        #expect(sizes == [352, 176, 88, 44, 22, 11])
        #expect(report.crowds.map(\.devices) == sizes)
        var pair = Self.small
        (pair.phones, pair.accessories) = (2, 0)
        #expect(CrowdReport(pair).crowds.map(\.devices) == [2])
    }

    // The deviations of independent events are 0.2 and more.
    @Test func discoveryAndLossesAreDistributions() throws {
        var crowd = Self.small
        (crowd.phones, crowd.accessories, crowd.seconds) = (700, 70, 30)
        crowd.phoneInterval = .milliseconds(417.5)
        crowd.accessoryInterval = .milliseconds(152.5)
        let statistics = CrowdStatistics(crowd)
        for points in [statistics.losses] + statistics.scans.map(\.discovery) {
            for (a, b) in zip(points, points.dropFirst()) {
                #expect(a.devices <= b.devices)
                #expect(a.expected <= b.expected + 1e-9)
            }
            for point in points { #expect(abs(point.devices - point.expected) < 0.06, "\(point)") }
        }
        #expect(statistics.losses.last?.devices == 1)
        #expect(statistics.scans[0].discovery.last?.devices == 1)
    }

    // Harald's own interval for apps in the background leaves nothing of so large a crowd.
    @Test func fastAdvertisersLoseEverything() {
        var crowd = CrowdConfiguration()
        (crowd.seconds, crowd.phoneInterval) = (1, .milliseconds(417.5))
        let statistics = CrowdStatistics(crowd, scans: [.continuous])
        #expect(statistics.devices == 11_000)
        #expect(statistics.lost > 0.9999)
        #expect(statistics.lostExpected > 0.9999)
    }

    // The probability that k of 128 bits differ is the product of 1 - i/128.
    @Test(arguments: [(1, 0.0), (2, 1.0 / 128), (8, 0.2)])
    func servicesShareBitsAsBirthdaysDo(services: Int, shared: Double) {
        let study = OverflowStudy(services: services, phones: 4_000, random: RandomSource(seed: 1))
        #expect(abs(study.sharedExpected - shared) < 0.01)
        #expect(abs(study.shared - study.sharedExpected) < 0.02)
        #expect(abs(study.falseMatches - study.falseMatchesExpected) < 0.006)
    }

    @Test func moreServicesThanBitsShareSome() {
        #expect(OverflowStudy.sharing(129) == 1)
        #expect(OverflowStudy.matching(0) == 0)
    }
}

@Suite struct ChannelSweepTests {
    private func frame(_ start: Int64, _ end: Int64, _ device: Int) -> CrowdFrame {
        CrowdFrame(start: start, end: end, device: device)
    }

    private func survivors(_ frames: [CrowdFrame]) -> [Int] {
        var sweep = ChannelSweep()
        for frame in frames { sweep.add(frame) }
        var result = sweep.settle(before: .max)
        if let last = sweep.finish() { result.append(last) }
        return result.map(\.device)
    }

    @Test func framesThatOnlyTouchSurvive() {
        #expect(survivors([frame(10, 20, 1), frame(0, 10, 0), frame(20, 30, 2)]) == [0, 1, 2])
    }

    @Test func framesThatOverlapAreLost() {
        #expect(survivors([frame(0, 10, 0), frame(9, 19, 1), frame(19, 29, 2)]) == [2])
        // A long one covers two that do not overlap each other.
        #expect(survivors([frame(0, 100, 0), frame(10, 20, 1), frame(30, 40, 2), frame(100, 110, 3)]) == [3])
        #expect(survivors([frame(5, 15, 0), frame(5, 15, 1)]) == [])
    }

    @Test func framesAfterTheLimitWait() {
        var sweep = ChannelSweep()
        sweep.add(frame(0, 10, 0))
        sweep.add(frame(20, 30, 1))
        #expect(sweep.settle(before: 15) == [])
        sweep.add(frame(25, 35, 2))
        #expect(sweep.settle(before: 40).map(\.device) == [0])
        #expect(sweep.finish() == nil)
    }
}

@Suite struct EventWheelTests {
    @Test func eventsComeInTheirBucket() {
        var wheel = EventWheel(devices: 3, longest: 5_000)
        wheel.schedule(0, at: 100)
        wheel.schedule(1, at: 4_999)
        wheel.schedule(2, at: 4_900)
        var taken: [(Int64, Int)] = []
        for slot in stride(from: Int64(0), to: 6_000, by: Int(EventWheel.slot)) {
            var devices: [Int] = []
            wheel.remove(at: slot, into: &devices)
            taken += devices.sorted().map { (slot, $0) }
        }
        #expect(taken.map(\.0) == [0, 4_750, 4_750])
        #expect(taken.map(\.1) == [0, 1, 2])
    }
}

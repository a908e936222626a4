import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// How the interval of an advertiser is estimated from the times between its reports (12.30).
@Suite struct AdvertisingIntervalTests {
    private static func estimate(_ gaps: [Int]) -> Duration? {
        AdvertisingInterval.interval(gaps.map { .microseconds($0) })
    }

    @Test("the interval is the mean of the gaps that are at most 10 ms longer than the shortest one, less 5 ms")
    func estimates() {
        let near = [Int](repeating: 100_000, count: 11)
        #expect(Self.estimate([]) == nil)
        // Twelve gaps have to be about as short as the shortest one.
        #expect(Self.estimate(near + [Int](repeating: 200_000, count: 13)) == nil)
        #expect(
            Self.estimate(near + [110_000] + [Int](repeating: 200_000, count: 12)) == .microseconds(1_210_000) / 12
                - .milliseconds(5)
        )
        #expect(Self.estimate(near + [110_001] + [Int](repeating: 200_000, count: 12)) == nil)
        #expect(Self.estimate([Int](repeating: 25_000, count: 24)) == .milliseconds(20))
    }

    @Test("behaviours 14.1, 14.2: an interval less than 3.5 ms away from a recommended one is taken for it")
    func tolerance() {
        for interval in AdviceThresholds.advertisingIntervals {
            for (difference, isRecommended) in [(-3_500, false), (-3_499, true), (3_499, true), (3_500, false)] {
                #expect(
                    AdvertisingInterval.isRecommended(.microseconds(interval + difference)) == isRecommended,
                    "\(interval) and \(difference)"
                )
            }
        }
        #expect(!AdvertisingInterval.isRecommended(.milliseconds(100)))
        #expect(!AdvertisingInterval.isRecommended(.seconds(10)))
    }

    /// The findings of a scan in which a device was reported at times that are this far apart, in milliseconds.
    private static func found(_ gaps: [Double]) -> [String] {
        var app = AdvisedApp(.central)
        app.scan(duplicates: true)
        app.discover(.sensor)
        for gap in gaps {
            app.wait(gap / 1_000)
            app.discover(.sensor)
        }
        return app.advice.filter { $0.rule == .advertisingInterval }.map { "\($0.found) \($0.count)" }
    }

    @Test("behaviour 12.30: 24 gaps are needed, each of 19 ms or more, and there is one advice for a device and scan")
    func gaps() {
        #expect(Self.found([Double](repeating: 105, count: 23)) == [])
        #expect(Self.found([Double](repeating: 105, count: 24)) == ["received \"Sensor\" about every 100 ms 1"])
        #expect(Self.found([Double](repeating: 105, count: 100)) == ["received \"Sensor\" about every 100 ms 1"])
        #expect(Self.found([Double](repeating: 19, count: 24)) == ["received \"Sensor\" about every 14 ms 1"])
        // Two of these are one gap.
        #expect(Self.found([Double](repeating: 18.999, count: 47)) == [])
        #expect(Self.found([Double](repeating: 18.999, count: 48)) == ["received \"Sensor\" about every 32 ms 1"])
    }

    @Test("AB-G05: 32 devices are followed in a scan, and in each scan anew")
    func devices() {
        func peer(_ number: UInt8) -> UUID { UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number)) }
        var app = AdvisedApp(.central)
        app.scan(duplicates: true)
        for _ in 0...24 {
            app.wait(0.105)
            for number in 0..<33 as Range<UInt8> { app.discover(peer(number)) }
        }
        #expect(app.advice.map(\.peer) == (0..<32 as Range<UInt8>).map(peer))
        app.scan(duplicates: true)
        for _ in 0...24 {
            app.wait(0.105)
            app.discover(peer(32))
        }
        #expect(app.advice.last?.peer == peer(32))
    }
}

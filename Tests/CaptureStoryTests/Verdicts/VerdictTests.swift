import BluetoothTypes
import HCI
import Testing

@testable import CaptureStory

@Suite struct VerdictTests {
    @Test("the verdict on a broken capture names what failed, and why", arguments: VerdictCase.broken)
    func brokenCaptures(_ capture: VerdictCase) {
        let verdict = capture.verdict
        let text = verdict.lines.joined(separator: "\n")
        #expect(verdict.outcome == capture.outcome, "\(text)")
        #expect((2...3).contains(verdict.lines.count), "\(text)")
        #expect(verdict.cause != nil)
        for part in capture.says { #expect(text.contains(part), "\(text)") }
    }

    @Test("the verdict on a healthy capture accuses no device", arguments: VerdictCase.healthy)
    func healthyCaptures(_ capture: VerdictCase) {
        let verdict = capture.verdict
        let text = verdict.lines.joined(separator: "\n")
        #expect(verdict.outcome == .succeeded, "\(text)")
        #expect(verdict.effect == nil)
        for part in capture.says { #expect(text.contains(part), "\(text)") }
    }

    @Test func thereAreThirtyOfEach() {
        #expect(VerdictCase.broken.count >= 30)
        #expect(VerdictCase.healthy.count >= 30)
    }

    @Test("a verdict about one connection is about no other")
    func oneConnection() {
        var bench = CaptureBench()
        bench.connectAsAsked()
        bench.read(error: 0x02)
        bench.leave()
        bench.connectAsAsked(BluetoothAddress(7, kind: .publicDevice))
        bench.read()
        bench.leave()
        let story = bench.told().story
        #expect(story.verdict().outcome == .failed)
        #expect(story.verdict(of: 1).connection == 1)
        #expect(story.verdict(of: 2).outcome == .succeeded)
    }

    @Test("failures beyond the bound are counted, and the verdict stays short")
    func manyFailures() {
        var bench = CaptureBench()
        for number in 0..<200 {
            bench.connectAsAsked(BluetoothAddress(UInt64(number) + 1, kind: .publicDevice))
            bench.ends(.connectionTimeout)
        }
        let verdict = bench.told().story.verdict()
        #expect(verdict.others == 199)
        #expect(verdict.lines.count == 3)
    }
}

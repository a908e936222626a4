import EventLoops
import TestBasics
import Testing

@testable import HCITransports

@Suite struct PacingTests {
    @Test func aLateWakeUpDoesNotChangeTheTimesOfTasks() {
        var pacing = Pacing()
        let seen = Recorder()
        _ = pacing.add(at: Instant(microseconds: 100)) { seen.times.append(100) }
        _ = pacing.add(at: Instant(microseconds: 250)) { seen.times.append(250) }
        // The machine gets to it at 1,000 µs; both tasks see their due times as the current time.
        for expected: Int64 in [100, 250] {
            guard case .run(let task) = pacing.step(wall: Instant(microseconds: 1_000)) else {
                return recordIssue("a task is due")
            }
            task()
            #expect(pacing.now.microseconds == expected)
        }
        #expect(seen.times == [100, 250])
    }

    @Test("input is stamped with the wall clock, and time never goes back")
    func timeOfWhatComesInNeverGoesBack() {
        var pacing = Pacing()
        pacing.arrive(wall: Instant(microseconds: 500))
        #expect(pacing.now.microseconds == 500)
        pacing.arrive(wall: Instant(microseconds: 400))
        #expect(pacing.now.microseconds == 500)
        _ = pacing.add(at: Instant(microseconds: 10)) {}
        guard case .run = pacing.step(wall: Instant(microseconds: 500)) else {
            return recordIssue("a task for the past is due now")
        }
        #expect(pacing.now.microseconds == 500)
    }

    @Test func idlePacingSleepsUntilTheNextDeadline() {
        var pacing = Pacing()
        let task = pacing.add(at: Instant(microseconds: 700)) {}
        guard case .sleep(let deadline) = pacing.step(wall: Instant(microseconds: 699)) else {
            return recordIssue("nothing is due")
        }
        #expect(deadline?.microseconds == 700)
        pacing.cancel(task)
        guard case .sleep(nil) = pacing.step(wall: Instant(microseconds: 9_999)) else {
            return recordIssue("the task was cancelled")
        }
    }

    private final class Recorder {
        var times: [Int64] = []
    }
}

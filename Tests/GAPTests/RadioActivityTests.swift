import Testing

@testable import GAP

/// The core of the machines of the scanner and of an advertising set, in every order of events.
@Suite struct RadioActivityTests {
    private typealias Activity = RadioActivity<Int>

    private enum Event: CaseIterable {
        case want, wantOther, wantNothing, started, failed, blocked, stopped, retry, pause, resume, restart, ended

        func apply(to activity: inout Activity) -> [Activity.Step] {
            switch self {
            case .want: activity.want(1)
            case .wantOther: activity.want(2)
            case .wantNothing: activity.want(nil)
            case .started: activity.started()
            case .failed: activity.failed(isPassing: false)
            case .blocked: activity.failed(isPassing: true)
            case .stopped: activity.stopped()
            case .retry: activity.retry()
            case .pause: activity.pause()
            case .resume: activity.resume()
            case .restart: activity.restart()
            case .ended: activity.state == .running(1) ? activity.next() : []
            }
        }
    }

    /// Whatever happens, one sequence of commands is under way at a time, and nothing starts during a pause.
    @Test func oneSequenceOfCommandsAtATime() {
        var activities: [(activity: Activity, pending: Activity.Step?)] = [(Activity(), nil)]
        for _ in 0..<5 {
            activities = activities.flatMap { before in
                Event.allCases.compactMap { event in
                    // Only results of commands that are under way arrive.
                    switch event {
                    case .started, .failed, .blocked: guard case .start? = before.pending else { return nil }
                    case .stopped: guard before.pending == .stop else { return nil }
                    default: break
                    }
                    var (activity, pending) = before
                    let steps = event.apply(to: &activity)
                    if [.started, .failed, .blocked, .stopped].contains(event) { pending = nil }
                    for step in steps {
                        guard step == .stop || step == .start(1) || step == .start(2) else { continue }
                        #expect(pending == nil, "\(event) of \(before)")
                        if case .start(let content) = step {
                            #expect(!activity.isPaused && activity.wanted == content, "\(event) of \(before)")
                        }
                        pending = step
                    }
                    return (activity, pending)
                }
            }
            // Equal histories have equal futures.
            var seen: [(activity: Activity, pending: Activity.Step?)] = []
            for each in activities where !seen.contains(where: { Self.isSame($0, each) }) { seen.append(each) }
            activities = seen
        }
        #expect(activities.contains { $0.activity.state == .running(2) })
        // With nothing under way, the activity does what is wanted, or waits for a reason.
        for (activity, pending) in activities where pending == nil {
            switch activity.state {
            case .off: #expect(activity.wanted == nil || activity.isPaused)
            case .running(let content): #expect(activity.wanted == content && !activity.isPaused)
            case .blocked: break
            case .starting, .stopping: Issue.record("\(activity) waits for no command")
            }
        }
    }

    private static func isSame(
        _ a: (activity: Activity, pending: Activity.Step?),
        _ b: (activity: Activity, pending: Activity.Step?)
    ) -> Bool {
        a.pending == b.pending && a.activity.state == b.activity.state && a.activity.wanted == b.activity.wanted
            && a.activity.isPaused == b.activity.isPaused
    }
}

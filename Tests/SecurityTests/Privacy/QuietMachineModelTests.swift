import EventLoops
import TestBasics
import Testing

@testable import Security

/// Events in any order: each user asked to pause does so, work runs only during silence and once, and all users resume.
@Suite struct QuietMachineModelTests {
    private typealias User = QuietMachine.User
    private typealias Job = QuietMachine.Job

    /// A model of the machine that observes only events and actions.
    private struct Onlooker {
        /// Whether sets have addresses of their own; nil without a controller.
        var hasSetAddresses: Bool?
        var wanted: Set<Job> = []
        var working: Set<Job>?
        var asked: Set<User> = []
        var silent: Set<User> = []
        var isTimed = false
        var faults: [String] = []

        mutating func see(_ event: QuietMachine.Event, _ actions: [QuietMachine.Action]) {
            let isWaited = isTimed
            switch event {
            case .begin(let has): hasSetAddresses = has
            case .need(let job): wanted.insert(job)
            case .quiet(let user): if asked.contains(user) { silent.insert(user) }
            // Users that are not silent by then are no longer waited for.
            case .timeOver: if isWaited { silent = asked }
            case .done:
                check(working != nil || actions.isEmpty, "the end of work that did not run has an effect")
                working = nil
            case .reset: (hasSetAddresses, wanted, working, asked, silent) = (nil, [], nil, [], [])
            }
            for action in actions { see(action) }
            if case .reset = event { check(actions == (isWaited ? [.endTimer] : []), "a reset causes actions") }
        }

        private mutating func see(_ action: QuietMachine.Action) {
            switch action {
            case .startTimer:
                check(!isTimed, "two timers")
                isTimed = true
            case .endTimer:
                check(isTimed, "no timer ends")
                isTimed = false
            case .pause(let user): check(asked.insert(user).inserted, "\(user) is asked twice")
            case .resume(let user):
                check(asked.remove(user) != nil && working == nil && wanted.isEmpty, "\(user) goes on")
                silent.remove(user)
            case .work(let jobs):
                let disturbed: Set<User> =
                    jobs.contains(.list) || hasSetAddresses == false ? Set(User.allCases) : [.scanner, .connector]
                check(working == nil && hasSetAddresses != nil, "work at the wrong time")
                check(jobs == wanted && !jobs.isEmpty, "work that was not requested")
                check(disturbed.isSubset(of: asked) && asked == silent, "work while a user is active")
                (working, wanted) = (jobs, [])
            }
        }

        /// The invariants between two events.
        mutating func rest(_ state: QuietMachine.State) {
            let isWaiting = hasSetAddresses != nil && working == nil && !wanted.isEmpty
            check(isTimed == isWaiting, "the timer does not match the wait for silence")
            check(!isWaiting || asked != silent, "all users are silent, and no work runs")
            check(isWaiting || working != nil || asked.isEmpty, "a user is silent without work")
            let idle = isWaiting ? QuietMachine.State.pausing(waiting: asked.subtracting(silent)) : .running
            let expected = working.map { .working($0) } ?? idle
            check(state == expected, "\(state) in place of \(expected)")
        }

        private mutating func check(_ holds: Bool, _ fault: String) {
            if !holds { faults.append(fault) }
        }
    }

    @Test(arguments: 1...400 as ClosedRange<UInt64>)
    func randomEventsKeepTheInvariants(seed: UInt64) {
        let random = RandomSource(seed: seed)
        var (machine, onlooker) = (QuietMachine(), Onlooker())
        for step in 0..<60 {
            let event: QuietMachine.Event =
                switch random.below(16) {
                case 0: .reset
                case 1, 2: .timeOver
                case 3, 4, 5: .done
                case 6, 7: .need(.address)
                case 8, 9: .need(.list)
                case 10,
                    11 where onlooker.hasSetAddresses == nil:
                    .begin(hasSetAddresses: random.below(2) == 0)
                default: .quiet(User.allCases[Int(random.below(3))])
                }
            onlooker.see(event, machine.handle(event))
            onlooker.rest(machine.state)
            guard onlooker.faults.isEmpty else { return recordIssue("step \(step), \(event): \(onlooker.faults)") }
        }
    }
}

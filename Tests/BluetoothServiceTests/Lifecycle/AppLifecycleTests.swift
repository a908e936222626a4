import ServiceMessages
import Testing

@testable import BluetoothService

/// The state machine of an app's lifecycle.
@Suite struct AppLifecycleTests {
    private func lifecycle(_ events: [AppLifecycle.Event], inBackground: Bool = false) -> (
        AppPhase, [AppLifecycle.Action]
    ) {
        var lifecycle = AppLifecycle(inBackground: inBackground)
        var last: [AppLifecycle.Action] = []
        for event in events { last = lifecycle.handle(event) }
        return (lifecycle.phase, last)
    }

    @Test("behaviour 9.1: an app in the background runs for 30 s, or for three minutes if it requests time")
    func anAppThatWasLeftRunsForAWhile() {
        #expect(lifecycle([.left]) == (.background, [.startTimer(.seconds(30))]))
        #expect(lifecycle([.left, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(lifecycle([.left, .asksForTime(true), .timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        #expect(lifecycle([.left, .asksForTime(true), .timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        // An app that finishes in the first period keeps the rest of it; in the second period nothing is left to do.
        #expect(lifecycle([.left, .asksForTime(true), .asksForTime(false)]) == (.background, []))
        #expect(lifecycle([.left, .asksForTime(true), .asksForTime(false), .timeIsUp]) == (.suspended, [.suspend]))
        #expect(
            lifecycle([.left, .asksForTime(true), .timeIsUp, .asksForTime(false)]) == (
                .suspended, [.endTimer, .suspend]
            )
        )
    }

    @Test(
        "behaviour 9.1: a background task started in the foreground counts from when the app is left, until it ends"
    )
    func aTaskBegunInTheForegroundCounts() {
        let begun: [AppLifecycle.Event] = [.asksForTime(true), .left]
        #expect(lifecycle(begun + [.timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        #expect(lifecycle(begun + [.timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(lifecycle([.asksForTime(true), .asksForTime(false), .left, .timeIsUp]) == (.suspended, [.suspend]))
        // An app that returns to the foreground keeps its request for time.
        for back: [AppLifecycle.Event] in [[.entered], [.timeIsUp, .entered]] {
            #expect(lifecycle(begun + back + [.left, .timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        }
        // An app that was suspended in spite of its request must request time again.
        #expect(lifecycle(begun + [.timeIsUp, .timeIsUp, .entered, .left, .timeIsUp]) == (.suspended, [.suspend]))
    }

    @Test(
        "behaviours 9.1, 9.7: a background task of a woken app gives it three minutes from its last event"
    )
    func aTaskOfAWokenAppCounts() {
        let woken: [AppLifecycle.Event] = [.left, .timeIsUp, .eventDelivered, .asksForTime(true)]
        #expect(lifecycle(woken) == (.background, []))
        #expect(lifecycle(woken + [.timeIsUp]) == (.background, [.startTimer(.seconds(170))]))
        #expect(lifecycle(woken + [.eventDelivered, .timeIsUp]) == (.background, [.startTimer(.seconds(170))]))
        #expect(lifecycle(woken + [.timeIsUp, .eventDelivered]) == (.background, []))
        #expect(lifecycle(woken + [.timeIsUp, .asksForTime(true)]) == (.background, []))
        #expect(lifecycle(woken + [.timeIsUp, .asksForTime(false)]) == (.suspended, [.endTimer, .suspend]))
        #expect(lifecycle(woken + [.timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(lifecycle(woken + [.asksForTime(false), .timeIsUp]) == (.suspended, [.suspend]))
        #expect(lifecycle([.asksForTime(true), .timeIsUp], inBackground: true).0 == .background)
    }

    @Test("behaviour 9.7: a woken app has ten seconds, which further events renew")
    func wokenAppsHaveTenSeconds() {
        let asleep: [AppLifecycle.Event] = [.left, .timeIsUp]
        #expect(lifecycle(asleep + [.eventDelivered]) == (.background, [.resume, .startTimer(.seconds(10))]))
        #expect(lifecycle(asleep + [.eventDelivered, .eventDelivered]) == (.background, [.startTimer(.seconds(10))]))
        #expect(lifecycle(asleep + [.eventDelivered, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(lifecycle([.left, .eventDelivered]) == (.background, []))
        #expect(lifecycle([.eventDelivered]) == (.foreground, []))
        #expect(AppLifecycle(inBackground: true).firstActions == [.startTimer(.seconds(10))])
        #expect(lifecycle([.timeIsUp], inBackground: true) == (.suspended, [.suspend]))
    }

    @Test(
        "behaviour 9.7: an app that repeatedly overruns its background task is woken ever less often"
    )
    func anAppThatOverrunsIsSlowedDown() {
        var lifecycle = AppLifecycle(inBackground: true)
        var pauses: [Duration] = []
        for number in 1...10 {
            #expect(lifecycle.handle(.asksForTime(true)) == [])
            #expect(lifecycle.phase == .background)
            #expect(lifecycle.handle(.timeIsUp) == [.startTimer(.seconds(170))])
            let actions = lifecycle.handle(.timeIsUp)
            #expect(actions.first == .suspend)
            #expect(lifecycle.phase == .suspended)
            #expect(lifecycle.isSlowedDown == (number >= 3))
            guard lifecycle.isSlowedDown, case .startTimer(let pause)? = actions.last else {
                #expect(lifecycle.handle(.eventDelivered) == [.resume, .startTimer(.seconds(10))])
                continue
            }
            pauses.append(pause)
            // Events that arrive during the pause queue, and resume the app once.
            #expect(lifecycle.handle(.eventDelivered) == [])
            #expect(lifecycle.handle(.eventDelivered) == [])
            #expect(lifecycle.phase == .suspended)
            #expect(lifecycle.handle(.timeIsUp) == [.resume, .startTimer(.seconds(10))])
            #expect(lifecycle.phase == .background)
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map { .seconds($0) })
    }

    @Test("behaviour 9.7: a wake that ends in time, or the user, clears earlier overruns")
    func timelyWakesAndTheUserClearOverruns() {
        let overrun: [AppLifecycle.Event] = [.eventDelivered, .asksForTime(true), .timeIsUp, .timeIsUp]
        let asleep: [AppLifecycle.Event] = [.left, .timeIsUp]
        let slow = asleep + overrun + overrun + overrun
        #expect(lifecycle(slow) == (.suspended, [.suspend, .startTimer(.seconds(60))]))
        // No event arrived during the pause, so the next one resumes the app at once.
        #expect(lifecycle(slow + [.timeIsUp]) == (.suspended, []))
        #expect(lifecycle(slow + [.timeIsUp, .eventDelivered]) == (.background, [.resume, .startTimer(.seconds(10))]))
        #expect(lifecycle(slow + [.entered]) == (.foreground, [.endTimer, .resume]))
        #expect(lifecycle(slow + [.entered] + asleep + overrun) == (.suspended, [.suspend]))
        #expect(lifecycle(slow + [.ended(.forceQuit)]) == (.notRunning(.forceQuit), [.endTimer, .end]))
        for good: [AppLifecycle.Event] in [
            [.eventDelivered, .timeIsUp], [.eventDelivered, .asksForTime(true), .timeIsUp, .asksForTime(false)],
        ] {
            #expect(lifecycle(asleep + overrun + overrun + good + overrun) == (.suspended, [.suspend]), "\(good)")
        }
        for event: AppLifecycle.Event in [.left, .asksForTime(true), .asksForTime(false)] {
            #expect(lifecycle(slow + [event]) == (.suspended, []))
        }
        // The time after leaving the foreground does not count.
        let left: [AppLifecycle.Event] = [.asksForTime(true), .left, .timeIsUp, .timeIsUp, .entered]
        #expect(lifecycle(left + left + left + left.dropLast()) == (.suspended, [.suspend]))
    }

    @Test("behaviour 10.19: the user can open an app in any phase, but not revive an ended process")
    func thePersonOpensAnApp() {
        #expect(lifecycle([.left, .entered]) == (.foreground, [.endTimer]))
        #expect(lifecycle([.left, .timeIsUp, .entered]) == (.foreground, [.resume]))
        #expect(lifecycle([.left, .timeIsUp, .eventDelivered, .entered]) == (.foreground, [.endTimer]))
        for end in [AppEnd.crashed, .removedFromMemory, .forceQuit, .deviceRestarted] {
            #expect(lifecycle([.ended(end)]) == (.notRunning(end), [.endTimer, .end]))
            #expect(lifecycle([.left, .timeIsUp, .ended(end)]) == (.notRunning(end), [.endTimer, .end]))
            for event: AppLifecycle.Event in [
                .entered, .left, .eventDelivered, .timeIsUp, .asksForTime(true), .ended(.crashed),
            ] {
                #expect(lifecycle([.ended(end), event]) == (.notRunning(end), []))
            }
        }
    }

    @Test("behaviour 10.16: the user may quit an app that has already ended, which discards its preserved state")
    func thePersonMayEndAnAppThatHasEnded() {
        #expect(lifecycle([.ended(.crashed), .ended(.forceQuit)]) == (.notRunning(.forceQuit), [.end]))
        #expect(lifecycle([.ended(.forceQuit), .ended(.forceQuit)]) == (.notRunning(.forceQuit), []))
    }

    @Test func quittingAnEndedAppDiscardsPreservedState() {
        for event: AppLifecycle.Event in [
            .entered, .eventDelivered, .timeIsUp, .asksForTime(true), .asksForTime(false),
        ] {
            #expect(lifecycle([event]) == (.foreground, []))
        }
        for event: AppLifecycle.Event in [.left, .timeIsUp, .asksForTime(true), .asksForTime(false)] {
            #expect(lifecycle([.left, .timeIsUp, event]) == (.suspended, []))
            #expect(lifecycle([.left, .timeIsUp, event, .eventDelivered, .timeIsUp]) == (.suspended, [.suspend]))
        }
        #expect(lifecycle([.left, .left]) == (.background, []))
    }
}

import ServiceMessages
import Testing

@testable import BluetoothService

/// The state machine of an app's lifecycle.
@Suite struct AppLifecycleTests {
    private func life(_ events: [AppLifecycle.Event], inBackground: Bool = false) -> (AppPhase, [AppLifecycle.Action]) {
        var life = AppLifecycle(inBackground: inBackground)
        var last: [AppLifecycle.Action] = []
        for event in events { last = life.handle(event) }
        return (life.phase, last)
    }

    @Test("behaviour 9.1: an app in the background runs for 30 s, or for three minutes if it requests time")
    func anAppThatWasLeftRunsForAWhile() {
        #expect(life([.left]) == (.background, [.startTimer(.seconds(30))]))
        #expect(life([.left, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(life([.left, .asksForTime(true), .timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        #expect(life([.left, .asksForTime(true), .timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        // An app that finishes in the first period keeps the rest of it; in the second period nothing is left to do.
        #expect(life([.left, .asksForTime(true), .asksForTime(false)]) == (.background, []))
        #expect(life([.left, .asksForTime(true), .asksForTime(false), .timeIsUp]) == (.suspended, [.suspend]))
        #expect(
            life([.left, .asksForTime(true), .timeIsUp, .asksForTime(false)]) == (.suspended, [.endTimer, .suspend])
        )
    }

    @Test(
        "behaviour 9.1: a background task started in the foreground counts from when the app is left, until it ends"
    )
    func aTaskBegunInTheForegroundCounts() {
        let begun: [AppLifecycle.Event] = [.asksForTime(true), .left]
        #expect(life(begun + [.timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        #expect(life(begun + [.timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(life([.asksForTime(true), .asksForTime(false), .left, .timeIsUp]) == (.suspended, [.suspend]))
        // An app that returns to the foreground keeps its request for time.
        for back: [AppLifecycle.Event] in [[.entered], [.timeIsUp, .entered]] {
            #expect(life(begun + back + [.left, .timeIsUp]) == (.background, [.startTimer(.seconds(150))]))
        }
        // An app that was suspended in spite of its request must request time again.
        #expect(life(begun + [.timeIsUp, .timeIsUp, .entered, .left, .timeIsUp]) == (.suspended, [.suspend]))
    }

    @Test(
        "behaviours 9.1, 9.7: a background task of a woken app gives it three minutes from its last event"
    )
    func aTaskOfAWokenAppCounts() {
        let woken: [AppLifecycle.Event] = [.left, .timeIsUp, .told, .asksForTime(true)]
        #expect(life(woken) == (.background, []))
        #expect(life(woken + [.timeIsUp]) == (.background, [.startTimer(.seconds(170))]))
        #expect(life(woken + [.told, .timeIsUp]) == (.background, [.startTimer(.seconds(170))]))
        #expect(life(woken + [.timeIsUp, .told]) == (.background, []))
        #expect(life(woken + [.timeIsUp, .asksForTime(true)]) == (.background, []))
        #expect(life(woken + [.timeIsUp, .asksForTime(false)]) == (.suspended, [.endTimer, .suspend]))
        #expect(life(woken + [.timeIsUp, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(life(woken + [.asksForTime(false), .timeIsUp]) == (.suspended, [.suspend]))
        #expect(life([.asksForTime(true), .timeIsUp], inBackground: true).0 == .background)
    }

    @Test("behaviour 9.7: a woken app has ten seconds, which further events renew")
    func whoIsWokenHasTenSeconds() {
        let asleep: [AppLifecycle.Event] = [.left, .timeIsUp]
        #expect(life(asleep + [.told]) == (.background, [.resume, .startTimer(.seconds(10))]))
        #expect(life(asleep + [.told, .told]) == (.background, [.startTimer(.seconds(10))]))
        #expect(life(asleep + [.told, .timeIsUp]) == (.suspended, [.suspend]))
        #expect(life([.left, .told]) == (.background, []))
        #expect(life([.told]) == (.foreground, []))
        #expect(AppLifecycle(inBackground: true).firstActions == [.startTimer(.seconds(10))])
        #expect(life([.timeIsUp], inBackground: true) == (.suspended, [.suspend]))
    }

    @Test(
        "behaviour 9.7: an app that repeatedly overruns its background task is woken ever less often"
    )
    func anAppThatOverrunsIsSlowedDown() {
        var life = AppLifecycle(inBackground: true)
        var pauses: [Duration] = []
        for number in 1...10 {
            #expect(life.handle(.asksForTime(true)) == [])
            #expect(life.phase == .background)
            #expect(life.handle(.timeIsUp) == [.startTimer(.seconds(170))])
            let actions = life.handle(.timeIsUp)
            #expect(actions.first == .suspend)
            #expect(life.phase == .suspended)
            #expect(life.isSlowedDown == (number >= 3))
            guard life.isSlowedDown, case .startTimer(let pause)? = actions.last else {
                #expect(life.handle(.told) == [.resume, .startTimer(.seconds(10))])
                continue
            }
            pauses.append(pause)
            // Events that arrive during the pause queue, and resume the app once.
            #expect(life.handle(.told) == [])
            #expect(life.handle(.told) == [])
            #expect(life.phase == .suspended)
            #expect(life.handle(.timeIsUp) == [.resume, .startTimer(.seconds(10))])
            #expect(life.phase == .background)
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map { .seconds($0) })
    }

    @Test("behaviour 9.7: a wake that ends in time, or the user, clears earlier overruns")
    func whatMakesAnOverrunGood() {
        let overrun: [AppLifecycle.Event] = [.told, .asksForTime(true), .timeIsUp, .timeIsUp]
        let asleep: [AppLifecycle.Event] = [.left, .timeIsUp]
        let slow = asleep + overrun + overrun + overrun
        #expect(life(slow) == (.suspended, [.suspend, .startTimer(.seconds(60))]))
        // No event arrived during the pause, so the next one resumes the app at once.
        #expect(life(slow + [.timeIsUp]) == (.suspended, []))
        #expect(life(slow + [.timeIsUp, .told]) == (.background, [.resume, .startTimer(.seconds(10))]))
        #expect(life(slow + [.entered]) == (.foreground, [.endTimer, .resume]))
        #expect(life(slow + [.entered] + asleep + overrun) == (.suspended, [.suspend]))
        #expect(life(slow + [.ended(.forceQuit)]) == (.notRunning(.forceQuit), [.endTimer, .end]))
        for good: [AppLifecycle.Event] in [
            [.told, .timeIsUp], [.told, .asksForTime(true), .timeIsUp, .asksForTime(false)],
        ] {
            #expect(life(asleep + overrun + overrun + good + overrun) == (.suspended, [.suspend]), "\(good)")
        }
        for event: AppLifecycle.Event in [.left, .asksForTime(true), .asksForTime(false)] {
            #expect(life(slow + [event]) == (.suspended, []))
        }
        // The time after leaving the foreground does not count.
        let left: [AppLifecycle.Event] = [.asksForTime(true), .left, .timeIsUp, .timeIsUp, .entered]
        #expect(life(left + left + left + left.dropLast()) == (.suspended, [.suspend]))
    }

    @Test("behaviour 10.19: the user can open an app in any phase, but not revive an ended process")
    func thePersonOpensAnApp() {
        #expect(life([.left, .entered]) == (.foreground, [.endTimer]))
        #expect(life([.left, .timeIsUp, .entered]) == (.foreground, [.resume]))
        #expect(life([.left, .timeIsUp, .told, .entered]) == (.foreground, [.endTimer]))
        for end in [AppEnd.crashed, .removedFromMemory, .forceQuit, .deviceRestarted] {
            #expect(life([.ended(end)]) == (.notRunning(end), [.endTimer, .end]))
            #expect(life([.left, .timeIsUp, .ended(end)]) == (.notRunning(end), [.endTimer, .end]))
            for event: AppLifecycle.Event in [.entered, .left, .told, .timeIsUp, .asksForTime(true), .ended(.crashed)] {
                #expect(life([.ended(end), event]) == (.notRunning(end), []))
            }
        }
    }

    @Test("behaviour 10.16: the user may quit an app that has already ended, which discards its preserved state")
    func thePersonMayEndAnAppThatHasEnded() {
        #expect(life([.ended(.crashed), .ended(.forceQuit)]) == (.notRunning(.forceQuit), [.end]))
        #expect(life([.ended(.forceQuit), .ended(.forceQuit)]) == (.notRunning(.forceQuit), []))
    }

    @Test func whatMeansNothingWhereTheAppIsChangesNothing() {
        for event: AppLifecycle.Event in [.entered, .told, .timeIsUp, .asksForTime(true), .asksForTime(false)] {
            #expect(life([event]) == (.foreground, []))
        }
        for event: AppLifecycle.Event in [.left, .timeIsUp, .asksForTime(true), .asksForTime(false)] {
            #expect(life([.left, .timeIsUp, event]) == (.suspended, []))
            #expect(life([.left, .timeIsUp, event, .told, .timeIsUp]) == (.suspended, [.suspend]))
        }
        #expect(life([.left, .left]) == (.background, []))
    }
}

import BluetoothTypes
import EventLoops
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService

/// Apps whose processes repeatedly end early.
@Suite struct LaunchBackoffTests {
    private let identity = AppIdentity(name: "com.example.Collector")

    /// A phone whose app is subscribed and whose process has crashed after running for a long time.
    private func sleepingApp() throws -> (LivingApps, LaunchLog) {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        let launcher = LaunchLog()
        launcher.serve(apps.phone.system)
        apps.world.run(.seconds(60))
        apps.centralApp.happened(.ended(.crashed))
        return (apps, launcher)
    }

    /// A process that the system launched runs for some time, and crashes.
    private func crash(_ apps: LivingApps, after time: Duration = .milliseconds(20), makesManager: Bool = false) {
        let declaration = AppDeclaration(displayName: "Collector", backgroundModes: .central)
        let process = apps.phone.system.openApp(identity, declaring: declaration, inBackground: true)
        if makesManager { _ = apps.phone.manager(.central, of: process, restoring: "collector") }
        apps.world.run(time)
        process.happened(.ended(.crashed))
    }

    private func status(_ apps: LivingApps) -> PreservedStatus? { apps.phone.system.status.preserved.first }

    // MARK: The state machine

    @Test(
        "behaviour 10.25: each early end doubles the pause, up to ten minutes, and a process that stays up clears it"
    )
    func howLongPausesAre() {
        var backoff = LaunchBackoff()
        #expect(backoff.handle(.wanted) == [.launch])
        #expect(backoff.handle(.launchFailed) == [])
        #expect(backoff.handle(.wanted) == [.launch])
        var pauses: [Duration] = []
        for number in 0..<12 {
            let event: LaunchBackoff.Event =
                number % 2 == 0 ? .launchFailed : .processEnded(after: .milliseconds(9_999))
            let actions = backoff.handle(event)
            guard case .startPause(let pause)? = actions.first, actions.count == 1 else {
                return recordIssue("\(actions) after \(event)")
            }
            pauses.append(pause)
            #expect(backoff.handle(.wanted) == [])
            #expect(backoff.handle(.wanted) == [])
            #expect(backoff.handle(.pauseEnded) == [.launch])
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map { .seconds($0) })
        #expect(backoff.handle(.processEnded(after: .seconds(10))) == [])
        #expect(backoff == LaunchBackoff())
    }

    @Test("behaviour 10.25: a pause without events launches nothing when it ends")
    func aPauseForNothing() {
        var backoff = LaunchBackoff()
        #expect(backoff.handle(.launchFailed) == [])
        #expect(backoff.handle(.launchFailed) == [.startPause(.seconds(1))])
        #expect(backoff.handle(.pauseEnded) == [])
        #expect(backoff.handle(.pauseEnded) == [])
        #expect(backoff.handle(.wanted) == [.launch])
        #expect(backoff.earlyEnds == 2)
        // An early end during a pause lengthens it, and a pending launch stays pending.
        #expect(backoff.handle(.launchFailed) == [.startPause(.seconds(2))])
        #expect(backoff.handle(.wanted) == [])
        #expect(backoff.handle(.processEnded(after: .zero)) == [.startPause(.seconds(4))])
        #expect(backoff.handle(.pauseEnded) == [.launch])
        for _ in 0..<5_000 { _ = backoff.handle(.launchFailed) }
        #expect(backoff.handle(.launchFailed) == [.startPause(.seconds(600))])
    }

    // MARK: The system

    @Test(
        "behaviours 10.15, 10.25, AB-G05: 200 values in 40 s launch a crashing app seven times, and none is lost",
        arguments: [false, true]
    )
    func anAppThatCrashesEachTime(isBroken: Bool) throws {
        let (apps, launcher) = try sleepingApp()
        launcher.isBroken = isBroken
        var crashes = 0
        for value in UInt8(1)...200 {
            apps.measure([value])
            guard !isBroken, launcher.launches.count > crashes else { continue }
            crashes += 1
            crash(apps)
        }
        // Twice at once, and then after 1, 3, 7, 15 and 31 s.
        #expect(launcher.launches.count == 7)
        let kept = status(apps)
        #expect(kept?.earlyEnds == 7)
        #expect((kept?.launchPauseSeconds ?? 0) > 20)
        #expect(kept?.line.contains("ended early 7 times in a row, not launched again for ") == true)
        // Queued events launch the app when the pause is over; no further event is necessary.
        apps.world.run(.seconds(32))
        #expect(launcher.launches.count == 8)
        apps.launchCentral()
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == (UInt8(1)...200).map { .success([$0]) })
    }

    @Test("behaviour 10.25: an app that creates its managers and then crashes is held back too")
    func anAppThatCrashesWithItsManagers() throws {
        let (apps, launcher) = try sleepingApp()
        for number in 1...50 {
            let before = launcher.launches.count
            apps.measure([UInt8(number)])
            if launcher.launches.count > before { crash(apps, makesManager: true) }
        }
        #expect(launcher.launches.count == 5)
        #expect(status(apps)?.earlyEnds == 5)
    }

    @Test(
        "behaviour 10.25: a process that stays up for ten seconds clears the count, and so does one that the system ended"
    )
    func aProcessThatStaysUp() throws {
        let (apps, launcher) = try sleepingApp()
        for value in UInt8(1)...3 {
            apps.measure([value])
            crash(apps)
            apps.world.run(.seconds(8))
        }
        #expect(launcher.launches.count == 3)
        #expect(status(apps)?.earlyEnds == 3)
        #expect(status(apps)?.launchPauseSeconds == nil)
        #expect(status(apps)?.line.hasSuffix("ended early 3 times in a row") == true)
        apps.measure([4])
        crash(apps, after: .seconds(10), makesManager: true)
        #expect(launcher.launches.count == 4)
        #expect(status(apps)?.earlyEnds == nil)
        // The system reclaimed its memory, which does not count as an early end.
        apps.measure([5])
        apps.launchCentral()
        apps.centralApp.happened(.ended(.removedFromMemory))
        apps.measure([6])
        #expect(launcher.launches.count == 6)
        #expect(status(apps)?.earlyEnds == nil)
    }

    @Test("behaviours 10.16, 10.25: the user clears the pause by opening or quitting the app")
    func theUserClearsThePause() throws {
        let (apps, launcher) = try sleepingApp()
        for _ in 0..<9 {
            apps.measure([1])
            crash(apps)
            apps.world.run(.seconds(130))
        }
        apps.measure([2])
        crash(apps)
        apps.measure([3])
        let before = launcher.launches.count
        #expect((status(apps)?.launchPauseSeconds ?? 0) > 200)
        apps.launchCentral()
        apps.world.run(.seconds(11))
        #expect(apps.phone.system.apps.preservation.relaunches.state(of: identity) == nil)
        apps.centralApp.happened(.ended(.crashed))
        apps.measure([4])
        #expect(launcher.launches.count == before + 1)
        apps.launchCentral()
        apps.centralApp.happened(.ended(.forceQuit))
        #expect(apps.phone.system.apps.preservation.relaunches.state(of: identity) == nil)
        apps.world.run(.seconds(700))
        #expect(launcher.launches.count == before + 1)
    }

    @Test("behaviour 10.25: pending launches are dropped with the app's state, and a stopped system launches nothing")
    func pendingLaunchesAreDroppedWithTheState() throws {
        let (apps, launcher) = try sleepingApp()
        for value in UInt8(1)...2 {
            apps.measure([value])
            crash(apps)
        }
        apps.measure([3])
        apps.phone.system.controllers.setPower(false)
        apps.world.run(.seconds(700))
        #expect(launcher.launches.count == 2)
        #expect(apps.phone.system.apps.preservation.apps.isEmpty)

        let (others, log) = try sleepingApp()
        for value in UInt8(1)...2 {
            others.measure([value])
            crash(others)
        }
        others.measure([3])
        others.phone.system.stop()
        others.world.run(.seconds(700))
        #expect(log.launches.count == 2)
    }

    @Test("AB-G05: apps with early ends are remembered up to a limit, and the worst ones stay")
    func howManyAreRemembered() {
        let loop = VirtualEventLoop()
        let relaunches = Relaunches(loop: loop)
        var launched: [String] = []
        relaunches.onLaunch = { launched.append($0.name) }
        let worst = AppIdentity(name: "worst")
        for _ in 0..<3 { relaunches.handle(.launchFailed, of: worst) }
        for number in 0..<2 * Relaunches.maximumApps {
            relaunches.handle(.launchFailed, of: AppIdentity(name: "\(number)"))
        }
        #expect(relaunches.state(of: worst)?.earlyEnds == 3)
        relaunches.handle(.wanted, of: worst)
        #expect(launched.isEmpty)
        loop.run(for: .seconds(4))
        #expect(launched == ["worst"])
        let known = (0..<2 * Relaunches.maximumApps).filter { relaunches.state(of: AppIdentity(name: "\($0)")) != nil }
        // With the worst one, 256.
        #expect(known.count == 255)
        // A well-behaved app leaves no entry.
        relaunches.handle(.wanted, of: AppIdentity(name: "good"))
        #expect(relaunches.state(of: AppIdentity(name: "good")) == nil)
        #expect(launched.last == "good")
    }
}

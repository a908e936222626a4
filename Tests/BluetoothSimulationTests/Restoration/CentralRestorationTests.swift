import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Testing

/// Central managers that outlive their app's process.
@Suite struct CentralRestorationTests {
    enum Death: CaseIterable { case crash, memory }

    private func kill(_ app: SimulatedApp, by death: Death = .crash) {
        switch death {
        case .crash: app.crash()
        case .memory: app.removeFromMemory()
        }
    }

    @Test(
        "behaviours 10.1, 10.3 to 10.9, 10.11, 10.19, 13.9: a value launches an ended app, which receives the restored state, the radio state and the value",
        arguments: Death.allCases
    )
    func aValueLaunchesTheApp(death: Death) {
        let world = RestorationWorld().collecting()
        kill(world.collector, by: death)
        world.world.run(for: .seconds(600))
        #expect(world.collected.take().isEmpty)
        #expect(world.sensed.take().isEmpty)
        world.measure(61)
        let expected = [
            "launched for [\"central collector\"]", "restores in state 0",
            "restored Belt, state 2, notifying true, writable true", "state 5",
            "value [0, 61]",
        ]
        #expect(world.collected.take() == expected)
        #expect(world.collector.phase == .background)
        world.measure(62)
        #expect(world.collected.take() == ["value [0, 62]"])
        world.world.run(for: .seconds(20))
        #expect(world.collector.phase == .suspended)
        // A suspended app is resumed, and nothing is restored (behaviour 10.19).
        world.measure(63)
        #expect(world.collected.take() == ["value [0, 63]"])
    }

    @Test("behaviours 10.1, 9.14: without an identifier nothing is preserved, and no app is launched")
    func withoutAnIdentifierNothingIsKept() {
        let world = RestorationWorld(collector: nil).collecting()
        world.collector.crash()
        world.world.run(for: .seconds(1))
        #expect(world.sensed.take() == ["unsubscribed from 2A37"])
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(
            world.collected.take() == ["launched by the person, with []", "state 5", "connected", "notifying true"]
        )
    }

    @Test("behaviour 10.16: an app that the person quit is not launched, and is not restored")
    func anAppThatThePersonHasEnded() {
        let world = RestorationWorld().collecting()
        world.collector.forceQuit()
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(world.collected.take().prefix(2) == ["launched by the person, with []", "state 5"])
    }

    @Test(
        "behaviour 10.16: preserved state is dropped when the person quits the app later, or turns Bluetooth off",
        arguments: [true, false]
    )
    func quittingDropsPreservedState(byForce: Bool) {
        let world = RestorationWorld().collecting()
        world.collector.crash()
        if byForce {
            world.phone.open("collector")
            world.world.run(for: .seconds(1))
            _ = world.collected.take()
            world.collector.forceQuit()
        } else {
            world.phone.setPower(false)
            world.phone.setPower(true)
        }
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
    }

    @Test(
        "behaviours 10.5, 10.10, 10.13, 10.14: a pending connection that succeeds launches the app, which gets its event"
    )
    func aConnectionThatComesAbout() {
        let world = RestorationWorld()
        world.belt.move(to: .init(x: 5_000))
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(world.collected.take() == ["launched by the person, with []", "state 5"])
        // It is scanning. After a kill in this state the scan continues for the background mode, and discovers the
        // belt.
        world.collector.removeFromMemory()
        world.belt.move(to: .init(x: 1))
        world.world.run(for: .seconds(10))
        let lines = world.collected.take()
        #expect(
            lines.prefix(3) == [
                "launched for [\"central collector\"]", "restores in state 0, scan for [Heart Rate] true", "state 5",
            ]
        )
        #expect(lines.suffix(2) == ["connected", "notifying true"])
    }

    @Test(
        "behaviours 10.4, 10.7, 10.10: a disconnection launches the app; a connection made meanwhile is reported after the state"
    )
    func theEndOfAConnection() {
        let world = RestorationWorld().collecting()
        world.collector.crash()
        world.belt.move(to: .init(x: 5_000))
        world.world.run(for: .seconds(10))
        let first = world.collected.take()
        #expect(
            first == [
                "launched for [\"central collector\"]", "restores in state 0",
                "restored Belt, state 2, notifying true, writable true",
                "state 5", "disconnected",
            ]
        )
        // It has requested the connection again, and is killed once more while the request is pending.
        world.collector.crash()
        world.world.run(for: .seconds(600))
        #expect(world.collected.take().isEmpty)
        world.belt.move(to: .init(x: 1))
        world.world.run(for: .seconds(10))
        #expect(
            world.collected.take() == [
                "launched for [\"central collector\"]", "restores in state 0", "restored Belt, state 1", "state 5",
                "connected",
                "notifying true",
            ]
        )
    }

    @Test("behaviour 10.16: quitting an app that has already ended drops its preserved state")
    func thePersonEndsAnAppThatIsGone() {
        let world = RestorationWorld().collecting()
        world.collector.removeFromMemory()
        world.collector.forceQuit()
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(world.collected.take().prefix(2) == ["launched by the person, with []", "state 5"])
    }

    @Test(
        "behaviours 1.17, 10.15, 10.18: preserved state survives the switch in Control Centre, but not before iOS 11",
        arguments: [10, 11, 26]
    )
    func preservedStateSurvivesControlCenter(version: Int) {
        let world = RestorationWorld(version: SystemVersion(integerLiteral: version)).collecting()
        world.collector.crash()
        world.phone.setPower(false, by: .controlCentre)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        #expect(world.sensed.take() == ["unsubscribed from 2A37"])
        world.phone.setPower(true, by: .controlCentre)
        world.world.run(for: .seconds(10))
        guard version > 10 else {
            #expect(world.collected.take().isEmpty)
            return
        }
        #expect(
            world.collected.take() == [
                "launched for [\"central collector\"]", "restores in state 0", "restored Belt, state 1", "state 5",
                "connected",
                "notifying true",
            ]
        )
    }

    @Test(
        "behaviours 1.11, 1.17: running apps see the radio off, whichever switch was used",
        arguments: [PowerSwitch.settings, .controlCentre]
    )
    func appsThatRunSeeTheRadioOff(powerSwitch: PowerSwitch) {
        let world = RestorationWorld().collecting()
        world.phone.setPower(false, by: powerSwitch)
        world.world.run(for: .seconds(1))
        #expect(world.collected.take() == ["state 4"])
        world.phone.setPower(true, by: powerSwitch)
        world.world.run(for: .seconds(5))
        #expect(world.collected.take() == ["state 5", "connected", "notifying true"])
    }

    @Test("behaviour 10.6: the person may open the app before any event, and it continues where it was")
    func thePersonOpensTheAppFirst() {
        let world = RestorationWorld().collecting()
        world.collector.crash()
        world.phone.open("collector")
        world.world.run(for: .seconds(1))
        #expect(
            world.collected.take() == [
                "launched by the person, with [\"central collector\"]", "restores in state 0",
                "restored Belt, state 2, notifying true, writable true", "state 5",
            ]
        )
        world.measure(61)
        #expect(world.collected.take() == ["value [0, 61]"])
        #expect(world.collector.phase == .foreground)
        world.world.run(for: .seconds(60))
        #expect(world.collector.phase == .foreground)
    }

    @Test("behaviour 10.6: state that no manager adopts in time is dropped")
    func unadoptedStateIsDropped() {
        let world = RestorationWorld().collecting()
        world.collector.crash()
        let collected = world.collected
        world.phone.install("collector", declaring: AppDeclaration(backgroundModes: .central)) { _, launch in
            collected.note(launch.line)
            return 0
        }
        world.measure(61)
        #expect(collected.take() == ["launched for [\"central collector\"]"])
        world.world.run(for: .seconds(8))
        _ = world.sensed.take()
        world.world.run(for: .seconds(2))
        #expect(world.sensed.take() == ["unsubscribed from \(Belt.rate)"])
        world.measure(62)
        world.world.run(for: .seconds(60))
        #expect(collected.take().isEmpty)
    }

    @Test(
        "behaviours 9.5, 10.4: an app without bluetooth-central is not launched, but is restored when the person opens it"
    )
    func withoutTheModeNobodyIsLaunched() {
        let world = RestorationWorld(modes: []).collecting()
        world.collector.crash()
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.open("collector")
        world.world.run(for: .seconds(1))
        #expect(
            world.collected.take() == [
                "launched by the person, with [\"central collector\"]", "restores in state 0",
                "restored Belt, state 2, notifying true, writable true", "state 5", "value [0, 61]",
            ]
        )
    }

    @Test(
        "behaviours 9.3, 10.4: responses to an ended app are dropped, and the next process has the full number of requests"
    )
    func responsesToAnEndedAppAreDropped() {
        let world = RestorationWorld().collecting()
        for value in UInt8(1)..<30 {
            world.collector.removeFromMemory()
            world.measure(value)
            #expect(
                world.collected.take() == [
                    "launched for [\"central collector\"]", "restores in state 0",
                    "restored Belt, state 2, notifying true, writable true",
                    "state 5", "value [0, \(value)]",
                ]
            )
        }
    }
}

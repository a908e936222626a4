import BluetoothSimulation
import BluetoothTesting
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct WorldRestartTests {
    @Test(
        "behaviours 10.5, 10.7, 10.10, 10.15, 10.21: after a restart a connection is made again, and launches the app, which subscribes"
    )
    func aConnectionIsMadeAnew() {
        let world = RestorationWorld().collecting()
        world.phone.restart()
        #expect(world.collector.phase == .notRunning(.deviceRestarted))
        world.world.run(for: .seconds(15))
        #expect(
            world.collected.take() == [
                "launched for [\"central collector\"]", "restores in state 0", "restored Belt, state 1", "state 5",
                "connected", "notifying true",
            ]
        )
        world.measure(61)
        #expect(world.collected.take() == ["value [0, 61]"])
    }

    @Test("behaviours 10.6, 10.15: an app that the person opens right after a restart is as it was")
    func aPersonOpensTheAppAtOnce() {
        let world = RestorationWorld().collecting()
        world.phone.restart()
        world.phone.open("collector")
        world.world.run(for: .seconds(15))
        #expect(
            world.collected.take() == [
                "launched by the person, with [\"central collector\"]", "restores in state 0",
                "restored Belt, state 1", "state 5", "connected", "notifying true",
            ]
        )
    }

    @Test(
        "behaviours 10.4, 10.12, 10.15: after a restart services and advertisement are back, and a central that uses them launches the app"
    )
    func servicesReturnAfterARestart() {
        let world = RestorationWorld().collecting()
        world.belt.restart()
        world.forgetSensor()
        world.world.run(for: .seconds(2))
        #expect(world.belt.advertisedAddress != nil)
        #expect(world.sensed.take() == [])
        // The belt's address has changed, so it has to be discovered again (behaviour 11.6).
        world.lookAnew()
        #expect(
            world.sensed.take() == [
                "launched for [\"peripheral sensor\"]", "restores in state 0, advertises Belt [Heart Rate] true",
                "restored 2A37, 0 subscribed", "restored 2A39, 0 subscribed", "state 5, advertising true",
                "subscribed to 2A37",
            ]
        )
        #expect(world.collected.take().suffix(2) == ["connected", "notifying true"])
        // The belt's app is suspended by now.
        world.belt.open("sensor")
        world.measure(61)
        #expect(world.collected.take() == ["value [0, 61]"])
    }

    @Test("behaviours 10.3, 10.5, 10.15: a scan survives a restart, makes a discovery, and launches the app")
    func aScanOutlivesARestart() {
        let world = RestorationWorld()
        world.belt.move(to: .init(x: 5_000))
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        _ = world.collected.take()
        world.phone.restart()
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.belt.move(to: .init(x: 1))
        world.world.run(for: .seconds(120))
        let lines = world.collected.take()
        #expect(
            lines.prefix(3) == [
                "launched for [\"central collector\"]", "restores in state 0, scan for [Heart Rate] true", "state 5",
            ]
        )
        #expect(lines.suffix(2) == ["connected", "notifying true"])
    }

    @Test("behaviours 10.1, 10.15: without an identifier nothing survives a restart")
    func withoutAnIdentifierNothingOutlivesARestart() {
        let world = RestorationWorld(collector: nil).collecting()
        world.phone.restart()
        world.world.run(for: .seconds(20))
        world.measure(61)
        #expect(world.collected.take().isEmpty)
    }

    @Test(
        "behaviours 9.3, 10.4, 10.15: whenever devices restart, the belt's measurements arrive in the end",
        .world(appTime: .machine, keepsCaptures: false)
    )
    func wheneverDevicesAreRestarted() async {
        await world.search(seeds: 1...12, steps: 16, of: Self.restarts)
    }

    @Sendable private static func restarts(_ world: TestWorld) -> Scenario {
        let restoration = RestorationWorld(in: world.simulation)
        restoration.phone.open("collector")
        // The collector deliberately reads too early after its restoration.
        return Scenario(faults: [.restart, .crash], checksSystem: false)
            .finally("the belt's measurements arrive") {
                // The search has opened both apps.
                restoration.lookAnew()
                _ = restoration.collected.take()
                restoration.measure(61)
                let lines = restoration.collected.take()
                return lines == ["value [0, 61]"] ? nil : "the collector's lines are \(lines)"
            }
    }

    @Test(
        "behaviours 10.15, 10.16: an app that the person quits after a restart and before its launch does not come back"
    )
    func thePersonEndsAnAppAfterARestart() {
        let world = RestorationWorld().collecting()
        world.phone.restart()
        world.collector.forceQuit()
        world.world.run(for: .seconds(20))
        #expect(world.collected.take().isEmpty)
        world.phone.restart()
        world.world.run(for: .seconds(20))
        #expect(world.collected.take().isEmpty)
    }

    @Test("behaviour 1.18: an app that was denied Bluetooth is still denied after a restart")
    func anAppThatWasDeniedBluetooth() {
        let world = RestorationWorld()
        world.phone.setPermission(.denied, forApp: "collector")
        world.phone.restart()
        world.phone.open("collector")
        world.world.run(for: .seconds(1))
        #expect(world.collected.take().last == "state 3")
    }
}

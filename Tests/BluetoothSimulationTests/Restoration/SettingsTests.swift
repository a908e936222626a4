import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Testing

/// Changes to a device's settings other than turning Bluetooth off.
@Suite struct SettingsTests {
    private static let launched = [
        "launched for [\"central collector\"]", "restores in state 0", "restored Belt, state 1", "state 5", "connected",
        "notifying true",
    ]

    @Test(
        "behaviours 10.15, 10.24: after a restart apps are launched once the device is unlocked, for earlier events too"
    )
    func afterARestartTheDeviceIsUnlocked() {
        let world = RestorationWorld().collecting()
        world.phone.restart(isLocked: true)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.person.unlocks()
        world.world.run(for: .seconds(5))
        let lines = world.collected.take()
        #expect(lines.first == Self.launched.first)
        #expect(lines.contains("connected"))
        #expect(lines.last == "notifying true")
        world.measure(61)
        #expect(world.collected.take() == ["value [0, 61]"])
    }

    @Test("behaviour 10.24: unlocking launches no app without events, and the person may open one before")
    func unlockingAloneLaunchesNothing() {
        let world = RestorationWorld().collecting()
        world.belt.move(to: .init(x: 5_000))
        world.phone.restart(isLocked: true)
        world.world.run(for: .seconds(60))
        world.phone.person.unlocks()
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        world.phone.open("collector")
        world.world.run(for: .seconds(1))
        #expect(world.collected.take().first == "launched by the person, with [\"central collector\"]")
    }

    @Test("behaviours 10.15, 10.16, 10.23: airplane mode turns Bluetooth off as the settings do")
    func airplaneModeSwitchesBluetoothOff() {
        let world = RestorationWorld().collecting()
        world.phone.person.switchesAirplaneMode(true)
        world.world.run(for: .seconds(5))
        #expect(world.collected.take() == ["state 4"])
        world.phone.person.switchesAirplaneMode(false)
        world.world.run(for: .seconds(5))
        #expect(world.collected.take() == ["state 5", "connected", "notifying true"])
        world.collector.crash()
        world.phone.person.switchesAirplaneMode(true)
        world.world.run(for: .seconds(5))
        world.phone.person.switchesAirplaneMode(false)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
    }

    @Test(
        "behaviours 10.15, 10.23: airplane mode leaves Bluetooth alone if it was turned on during an earlier one, and apps are relaunched"
    )
    func airplaneModeLeavesBluetoothAlone() {
        let world = RestorationWorld().collecting()
        let person = world.phone.person
        person.switchesAirplaneMode(true)
        world.phone.setPower(true)
        person.switchesAirplaneMode(false)
        world.world.run(for: .seconds(10))
        _ = world.collected.take()
        world.collector.crash()
        person.switchesAirplaneMode(true)
        world.world.run(for: .seconds(10))
        world.measure(61)
        let lines = world.collected.take()
        #expect(lines.first == Self.launched.first)
        #expect(lines.last == "value [0, 61]")
        person.switchesAirplaneMode(false)
        world.world.run(for: .seconds(1))
        #expect(world.collected.take().isEmpty)
        // Bluetooth turned off during airplane mode stays coupled to it from then on.
        person.switchesAirplaneMode(true)
        world.phone.setPower(false)
        person.switchesAirplaneMode(false)
        world.world.run(for: .seconds(1))
        #expect(world.collected.take() == ["state 4"])
        world.phone.setPower(true)
        world.world.run(for: .seconds(5))
        #expect(world.collected.take().first == "state 5")
        person.switchesAirplaneMode(true)
        world.world.run(for: .seconds(1))
        #expect(world.collected.take().last == "state 4")
    }

    @Test(
        "behaviour 1.27: an app whose permission changes in the settings is ended, and sees the change when it is opened"
    )
    func aPermissionIsRevoked() {
        let world = RestorationWorld().collecting()
        world.phone.person.changesPermission(ofApp: "collector", to: .denied)
        #expect(world.collector.phase == .notRunning(.removedFromMemory))
        world.measure(61)
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        #expect(world.sensed.take() == ["unsubscribed from 2A37"])
        world.phone.open("collector")
        world.world.run(for: .seconds(1))
        #expect(world.collected.take().last == "state 3")
        // Setting the same permission again changes nothing.
        world.phone.person.changesPermission(ofApp: "collector", to: .denied)
        #expect(world.collector.phase == .foreground)
        world.phone.person.changesPermission(ofApp: "collector", to: .allowedAlways)
        #expect(world.collector.phase == .notRunning(.removedFromMemory))
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(world.collected.take().contains("state 5"))
    }

    @Test("behaviour 10.6: a simulated app has launch options, except when the person opens it")
    func launchOptionsOfASimulatedApp() {
        let world = RestorationWorld()
        let (told, declaration) = (Journal(), AppDeclaration(backgroundModes: .central))
        world.phone.install("collector", declaring: declaration) { _, _ in
            told.note("\(LaunchOptions.current.map { "\($0.key.rawValue) \($0.value)" })")
            return Collector(Journal())
        }
        world.phone.open("collector")
        world.world.run(for: .seconds(5))
        #expect(told.take() == ["[]"])
        world.collector.crash()
        world.measure(61)
        #expect(told.take() == ["[\"UIApplicationLaunchOptionsBluetoothCentralsKey [\\\"collector\\\"]\"]"])
        #expect(LaunchOptions.current.isEmpty)
    }
}

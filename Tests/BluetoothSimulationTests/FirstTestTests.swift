import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import TestBasics
import Testing

/// Situations that the first tests of an app meet.
@Suite struct FirstTestTests {
    /// Connects to the first device it finds, and again whenever it loses it.
    private final class Follower: CentralStandIn, @unchecked Sendable {
        let notes = Notes<String>()

        init(on queue: DispatchQueue?) { super.init(seeking: nil, on: queue) }

        override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            notes.add("connected")
        }

        override func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            error: (any Error)?
        ) {
            notes.add("disconnected")
            central.connect(peripheral)
        }
    }

    /// A follower and a belt that have been near each other for five seconds.
    private func meeting(
        _ options: DeviceOptions = .accessory,
        on queue: DispatchQueue? = DispatchQueue(label: "follower"),
        _ body: (SimulatedWorld, SimulatedDevice, Follower) -> Void
    ) {
        let world = SimulatedWorld(seed: 1)
        let strap = world.addDevice(named: "Belt", options: options)
        let belt = strap.launch("belt") { _ in PeripheralStandIn("Belt") }
        let follower = world.addDevice(named: "Phone").launch("follower") { _ in Follower(on: queue) }
        world.run(for: .seconds(5))
        body(world, strap, follower)
        withExtendedLifetime((belt, follower)) {}
    }

    @Test("an accessory that was unplugged is recognized again, since its address stays the same")
    func anAccessoryKeepsItsAddress() {
        meeting { world, strap, follower in
            strap.setController(isPluggedIn: false)
            world.run(for: .seconds(30))
            strap.setController(isPluggedIn: true)
            world.run(for: .seconds(30))
            #expect(follower.notes.all == ["connected", "disconnected", "connected"])
        }
    }

    @Test("a phone that was unplugged has a new address, and those that have not paired wait for it")
    func aPhoneChangesItsAddress() {
        meeting(.phone) { world, strap, follower in
            strap.setController(isPluggedIn: false)
            world.run(for: .seconds(30))
            strap.setController(isPluggedIn: true)
            world.run(for: .seconds(30))
            #expect(follower.notes.all == ["connected", "disconnected"])
        }
    }

    @Test("a manager without a queue of its own has its callbacks while the main thread runs the world")
    @MainActor
    func theMainThreadRunsTheWorld() {
        meeting(on: nil) { _, _, follower in
            #expect(follower.notes.all == ["connected"])
        }
    }

    @Test("a manager without a queue of its own has its callbacks while another thread runs the world")
    func anotherThreadRunsTheWorld() {
        meeting(on: nil) { _, _, follower in
            #expect(follower.notes.all == ["connected"])
        }
    }
}

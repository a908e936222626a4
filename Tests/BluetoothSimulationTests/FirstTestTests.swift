import BluetoothSimulation
import CoreBluetooth
import TestBasics
import Testing

/// Situations that the first tests of an app meet.
@Suite struct FirstTestTests {
    /// Connects to the first device it finds, and again whenever it loses it.
    private final class Follower: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        // Safe: mutable state is only touched on the manager's queue.
        let notes = Notes<String>()
        private var manager: CBCentralManager?
        private var belt: CBPeripheral?

        func start(on queue: DispatchQueue?) { manager = CBCentralManager(delegate: self, queue: queue) }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            guard belt == nil else { return }
            belt = peripheral
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            notes.add("connected")
        }

        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            error: (any Error)?
        ) {
            notes.add("disconnected")
            central.connect(peripheral)
        }
    }

    /// Advertises whenever Bluetooth is on.
    private final class Belt: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
        // Safe: the manager is set once, before its callbacks.
        private var manager: CBPeripheralManager?

        func start() { manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "belt")) }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            guard peripheral.state == .poweredOn else { return }
            peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: "Belt"])
        }
    }

    /// A follower and a belt that have been near each other for five seconds.
    private func meeting(
        _ options: DeviceOptions = .accessory,
        on queue: DispatchQueue? = DispatchQueue(label: "follower"),
        _ body: (SimulatedWorld, SimulatedDevice, Follower) -> Void
    ) {
        let world = SimulatedWorld(seed: 1)
        let (belt, follower) = (Belt(), Follower())
        let strap = world.addDevice(named: "Belt", options: options)
        strap.launch("belt") { _ in belt.start() }
        world.addDevice(named: "Phone").launch("follower") { _ in follower.start(on: queue) }
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

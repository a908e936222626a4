import AppStandIns
import CoreBluetooth
import EventLoops
import Foundation
import SampleMessages
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// An app in another process, over in-memory connections and in virtual time.
@Suite struct RemoteConnectionTests {
    private typealias Process = ClientProcess

    private func process(_ world: ClientWorld, isThere: Bool = true) -> Process {
        ClientProcess(in: world, isServiceThere: isThere)
    }

    private final class Watcher: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, Sendable {
        let states = Mutex<[CBManagerState]>([])
        let found = Mutex<[CBPeripheral]>([])
        let told = Mutex<[String]>([])

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            states.withLock { $0.append(central.state) }
            if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            found.withLock { $0.append(peripheral) }
            central.stopScan()
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            told.withLock { $0.append("connected") }
        }

        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            told.withLock { $0.append("restored") }
        }
    }

    private func manager(_ process: Process, _ watcher: Watcher, restoring: String? = nil) -> CBCentralManager {
        ServiceLocator.$current.withValue(process.connection) {
            CBCentralManager(
                delegate: watcher,
                queue: DispatchQueue(label: "app"),
                options: restoring.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
            )
        }
    }

    private func belt(in world: ClientWorld) -> PeripheralStandIn {
        let app = world.world.addDevice(named: "belt").launch("belt") { _ in PeripheralStandIn("belt") }
        world.world.run(for: .milliseconds(100))
        return app
    }

    @Test func anAppFindsAndConnectsOverALine() {
        let world = ClientWorld()
        let belt = belt(in: world)
        let (process, watcher) = (process(world), Watcher())
        let central = manager(process, watcher)
        world.world.run(for: .seconds(3))
        #expect(watcher.states.withLock { $0 } == [.poweredOn])
        #expect(watcher.told.withLock { $0 } == ["connected"])
        withExtendedLifetime((central, belt)) {}
    }

    @Test("a lost service is reported as resetting, and reconnected with all managers")
    func aServiceThatGoesAwayIsResetting() {
        let world = ClientWorld()
        let belt = belt(in: world)
        let (process, watcher) = (process(world), Watcher())
        let central = manager(process, watcher)
        world.world.run(for: .seconds(3))
        process.dialer.cut()
        world.world.run(for: .milliseconds(1))
        #expect(watcher.states.withLock { $0 } == [.poweredOn, .resetting])
        #expect(world.with { $0.centrals.isEmpty })
        world.world.run(for: .seconds(3))
        #expect(watcher.states.withLock { $0 } == [.poweredOn, .resetting, .poweredOn])
        #expect(watcher.told.withLock { $0 } == ["connected", "connected"])
        withExtendedLifetime((central, belt)) {}
    }

    @Test("managers created before the service starts are opened when it does")
    func managersWaitForAService() {
        let world = ClientWorld()
        let (process, watcher) = (process(world, isThere: false), Watcher())
        let central = manager(process, watcher)
        world.world.run(for: .seconds(1))
        #expect(watcher.states.withLock { $0 } == [.unsupported])
        #expect(process.log.all.contains { $0.contains("no Bluetooth service is listening at /nowhere") })
        process.dialer.clients.withLock { $0 = world.clients }
        world.world.run(for: .seconds(5))
        #expect(watcher.states.withLock { $0 } == [.unsupported, .poweredOn])
        withExtendedLifetime(central) {}
    }

    @Test("a manager of the same process is not restored, and one of the next process is")
    func theSameProcessHasNothingRestored() {
        let world = ClientWorld()
        let belt = belt(in: world)
        let (process, watcher) = (process(world), Watcher())
        let central = manager(process, watcher, restoring: "x")
        world.world.run(for: .seconds(3))
        process.dialer.cut()
        world.world.run(for: .seconds(3))
        #expect(watcher.told.withLock { $0 } == ["connected", "connected"])
        process.dialer.cut()
        process.dialer.clients.withLock { $0 = nil }
        let (next, other) = (self.process(world), Watcher())
        let restored = manager(next, other, restoring: "x")
        world.world.run(for: .seconds(3))
        #expect(other.told.withLock { $0.first } == "restored")
        withExtendedLifetime((central, restored, belt)) {}
    }

    @Test func aClosedManagerIsToldNothingMore() {
        let world = ClientWorld()
        let (process, watcher) = (process(world), Watcher())
        var central: CBCentralManager? = manager(process, watcher)
        world.world.run(for: .seconds(1))
        #expect(central?.state == .poweredOn)
        #expect(world.with { $0.centrals.count } == 1)
        central = nil
        world.world.run(for: .seconds(1))
        #expect(world.with { $0.centrals.isEmpty })
    }
}

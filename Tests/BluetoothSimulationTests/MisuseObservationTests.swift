import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import TestBasics
import Testing

/// Observers of a simulated device are notified of the mistakes of its apps, in whichever layer they are detected.
@Suite struct MisuseObservationTests {
    @Test("behaviour 1.6: misuse in an app's log is observed at the device, with its app")
    func misuseOfAnAppIsObserved() {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "Phone")
        let seen = Notes<String>()
        device.withSystem { system in
            _ = system.observers.add(.misuse) { observation in
                guard case .misused(let text, isToldToApp: true) = observation.content else { return }
                seen.add("\(observation.subject.app?.name ?? "nobody"): \(text)")
            }
        }
        let manager = device.launch("tracker") { _ in
            let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
            // Neither manager has received the power state yet.
            manager.scanForPeripherals(withServices: nil)
            return manager
        }
        world.run(for: .seconds(1))
        let lines = seen.all
        #expect(lines.count == 1 && lines[0].hasPrefix("tracker: ") && lines[0].contains("scanForPeripherals"))
        withExtendedLifetime(manager) {}
    }

    @Test("misuse on a thread of the app's own is observed too, and logged with app, device and seed")
    func misuseOutsideOfCallbacks() {
        let world = SimulatedWorld(seed: 7)
        let device = world.addDevice(named: "Phone")
        let seen = Notes<String>()
        device.withSystem { system in
            _ = system.observers.add(.misuse) { observation in
                if case .misused(let text, isToldToApp: true) = observation.content { seen.add(text) }
            }
        }
        let (manager, connection) = device.launch("tracker") { _ in
            let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
            return (manager, ServiceLocator.current)
        }
        manager.scanForPeripherals(withServices: nil)
        world.run(for: .seconds(1))
        #expect(seen.all.count == 1)
        #expect(connection?.place == SimulatedPlace(app: "tracker", device: "Phone", seed: 7))
        let metadata = Misuse.metadata(of: connection).mapValues { "\($0)" }
        #expect(metadata == ["app": "tracker", "device": "Phone", "seed": "7"])
        #expect(Misuse.metadata(of: nil).isEmpty)
    }
}

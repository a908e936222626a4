import AppStandIns
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import ServiceStandIns
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct CentralConnectionTests {
    /// Adds the events of a stream to the notes.
    private func watch(_ world: PeripheralWorld, _ manager: CBPeripheralManager? = nil, as name: String = "") -> Task<
        Void, any Error
    > {
        let stream = (manager ?? world.manager).centralConnections
        return world.app.task {
            for try await event in stream {
                switch event {
                case .connected: world.notes.add("\(name)connected")
                case .disconnected(_, let error):
                    world.notes.add("\(name)disconnected \(error.map(Lines.text) ?? "here")")
                }
            }
        }
    }

    private func connect(_ world: PeripheralWorld, subscribes: Bool = false) -> Phone {
        let phone = world.phone(subscribes: subscribes)
        world.world.run(for: .seconds(10)) { !phone.notes.all.isEmpty }
        return phone
    }

    @Test("behaviour 15.15: a peripheral is notified when a central connects and disconnects")
    func comingAndGoing() {
        let world = PeripheralWorld().published()
        _ = watch(world)
        let phone = connect(world)
        #expect(world.notes.all.last == "connected")
        phone.disconnect()
        world.run(1)
        #expect(world.notes.all.dropFirst() == ["connected", "disconnected CBError 7"])
    }

    @Test("behaviour 15.15: a central that was already connected is reported first, once to each stream")
    func before() {
        let world = PeripheralWorld().published()
        let phone = connect(world)
        _ = watch(world, as: "a ")
        world.run(1)
        _ = watch(world, as: "b ")
        world.run(1)
        #expect(world.notes.all.dropFirst() == ["a connected", "b connected"])
        #expect(phone.notes.all == ["connected"])
    }

    @Test("behaviour 15.15: a lost link is reported as lost")
    func lost() {
        let world = PeripheralWorld().published()
        _ = watch(world)
        let phone = connect(world)
        phone.device.move(to: Position(x: 100_000))
        world.run(5)
        #expect(world.notes.all.last == "disconnected CBError 6")
    }

    @Test("behaviours 15.13, 15.15: all centrals are gone with the power, and the stream continues when it is back")
    func power() {
        let world = PeripheralWorld().published()
        _ = watch(world)
        let phone = connect(world)
        world.sensor.setPower(false)
        world.run(1)
        #expect(world.notes.all.last == "disconnected not powered on: 4")
        world.run(5)
        world.sensor.setPower(true)
        world.run(1)
        // The phone has a new address by now.
        phone.queue.sync { phone.manager?.scanForPeripherals(withServices: [PeripheralWorld.service]) }
        world.run(5)
        #expect(world.notes.all.last == "connected")
    }

    @Test("behaviour 15.15: a peripheral disconnects a central, and gets the event")
    func disconnecting() throws {
        let world = PeripheralWorld().published()
        _ = watch(world)
        let phone = connect(world, subscribes: true)
        let central = try #require(world.characteristic.subscribedCentrals?.first)
        world.app.task {
            await world.notes.end("release") { try await world.manager.disconnect(central) }
            await world.notes.end("again") { try await world.manager.disconnect(central) }
        }
        world.run(2)
        #expect(phone.notes.all == ["subscribed", "disconnected"])
        #expect(
            world.notes.all.dropFirst() == [
                "connected", "disconnected here", "release done", "again failed: CBError 3",
            ]
        )
    }

    @Test(
        "behaviours 3.10, 15.15: a link that a central manager of this system uses is not ended for a peripheral manager"
    )
    func sharedLink() throws {
        let world = PeripheralWorld().published()
        let phone = connect(world, subscribes: true)
        let central = try #require(world.characteristic.subscribedCentrals?.first)
        let user = world.sensor.launch("user") { _ in ConnectionUser(central.identifier) }
        world.run(1)
        #expect(user.isConnected)
        world.app.task {
            await world.notes.end("release") { try await world.manager.disconnect(central) }
        }
        world.run(1)
        #expect(world.notes.all.last == "release failed: CBError 13")
        #expect(user.isConnected)
        #expect(phone.notes.all == ["subscribed"])
    }

    @Test(
        "behaviour 15.15: two managers each get events, one without a stream gets none, and one that stops gets no more"
    )
    func managers() {
        let world = PeripheralWorld().published()
        let (other, quiet, hearer) = world.sensor.launch("other") { _ in
            let hearer = Hearer()
            return (
                CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "other")),
                CBPeripheralManager(delegate: hearer, queue: DispatchQueue(label: "quiet")), hearer
            )
        }
        world.run(1)
        let first = watch(world, as: "a ")
        _ = watch(world, other, as: "b ")
        let phone = connect(world)
        first.cancel()
        world.run(0.1)
        phone.disconnect()
        world.run(1)
        #expect(Set(world.notes.all.dropFirst()) == ["a connected", "b connected", "b disconnected CBError 7"])
        #expect(hearer.calls == ["state"])
        #expect(quiet.observer == nil)
    }

    @Test("behaviour 15.15: peripherals that this system connects to are not reported as centrals")
    func ownPeripherals() {
        let world = PeripheralWorld().published()
        let phone = connect(world)
        // The peripheral side of the phone gets no event for a link that the phone itself initiated.
        let (manager, notes) = (
            phone.device.launch("other") { _ in CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            },
            Lines()
        )
        world.app.task { for try await _ in manager.centralConnections { notes.add("seen") } }
        world.run(1)
        #expect(notes.all.isEmpty)
    }

    @Test("behaviour 15.15: a call that fails without power leaves no earlier call for the same central waiting")
    func powerGoesBetweenCalls() async throws {
        let (service, notes, gate) = (StandInService(), Lines(), PowerGate())
        let manager = service.manager(delegate: gate)
        service.deliver(.stateChanged(.poweredOn))
        let stream = manager.centralConnections
        service.deliver(.peripheral(.centralConnected(CentralInfo(identifier: UUID(), maximumUpdateLength: 20))))
        var events = stream.makeAsyncIterator()
        guard case .connected(let central)? = try await events.next() else {
            return recordIssue("no central has connected")
        }
        Task { await notes.end("first") { try await manager.disconnect(central) } }
        let request = Request.peripheral(.disconnectCentral(central.identifier))
        #expect(await service.runs { service.requests.contains(request) })
        // The state has changed, and the calls that wait have not been told yet.
        DispatchQueue(label: "power").async { service.deliver(.stateChanged(.poweredOff)) }
        #expect(await service.runs { manager.state == .poweredOff })
        await notes.end("second") { try await manager.disconnect(central) }
        #expect(notes.all == ["second failed: not powered on: 4"])
        gate.open()
        #expect(await service.runs { notes.all.count == 2 })
        #expect(notes.all.last == "first failed: not powered on: 4")
    }
}

/// A delegate that keeps the loss of power to itself until it may pass.
private final class PowerGate: NSObject, CBPeripheralManagerDelegate, Sendable {
    private let gate = DispatchSemaphore(value: 0)

    func open() { gate.signal() }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheral.state == .poweredOff { gate.wait() }
    }
}

/// An app that joins a link by the peer's identifier.
private final class ConnectionUser: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: set once before any callback, and accessed only on the queue.
    private let queue = DispatchQueue(label: "user")
    private let identifier: UUID
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?

    init(_ identifier: UUID) {
        self.identifier = identifier
        super.init()
        queue.sync { manager = CBCentralManager(delegate: self, queue: queue) }
    }

    var isConnected: Bool { queue.sync { peripheral?.state == .connected } }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        peripheral = central.retrievePeripherals(withIdentifiers: [identifier]).first
        if let peripheral { central.connect(peripheral) }
    }
}

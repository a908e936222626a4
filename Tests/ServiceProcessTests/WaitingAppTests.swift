import BluetoothSimulation
import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import ServiceProcess

/// App processes whose record is being saved.
@Suite struct WaitingAppTests {
    private static let scan = AppMessage.request(ManagerID(1), .central(.startScan(ScanRequest(services: [0x180D]))))

    private func app(_ name: String, in world: ClientWorld) -> RawClient {
        let client = world.connect()
        client.greet(name, declaring: AppDeclaration(usageDescription: "to test", backgroundModes: [.central]))
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "one")
        client.send(AppMessage.openManager(ManagerID(1), .central, options))
        world.world.run(for: .milliseconds(10))
        #expect(client.events() == [.stateChanged(.poweredOn)])
        return client
    }

    private func isScanning(_ name: String, in world: ClientWorld) -> Bool {
        world.with { system in
            system.apps.running.contains { app in
                app.identity.name == name
                    && system.managers.sessions(of: app.identity).contains { !$0.manager.intent.requests.isEmpty }
            }
        }
    }

    private func letGo(_ records: LoopBound<HeldRecords>, _ world: ClientWorld) {
        world.with { _ in records.value.letGo() }
        world.world.run(for: .milliseconds(10))
    }

    @Test(
        "AB-G05, behaviour 10.15: a process that waits for the disk is not read from while others are, and continues with the disk"
    )
    func aProcessThatWaitsIsNotRead() {
        let held = HeldRecords()
        let world = ClientWorld(records: held)
        let records = LoopBound(held, loop: world.world.loop)
        let (greedy, modest) = (app("greedy", in: world), app("modest", in: world))
        world.with { _ in records.value.hold() }
        greedy.send(Self.scan)
        #expect(!greedy.isRead)
        #expect(modest.isRead)
        #expect(!isScanning("greedy", in: world))
        modest.send(AppMessage.query(ManagerID(1), number: 7, .system))
        #expect(modest.take().count == 1)
        // Messages sent meanwhile wait at the other end.
        greedy.send(AppMessage.query(ManagerID(1), number: 8, .system))
        #expect(greedy.take().isEmpty)
        letGo(records, world)
        #expect(greedy.isRead)
        #expect(isScanning("greedy", in: world))
        #expect(greedy.take().count == 1)
    }

    @Test(
        "AB-G05: a process that waits for the disk is not read from even when it accepts events again",
        arguments: [true, false]
    )
    func roomDoesNotEndTheWait(hasRoomAtTheEnd: Bool) {
        let held = HeldRecords()
        let world = ClientWorld(records: held)
        let records = LoopBound(held, loop: world.world.loop)
        let greedy = app("greedy", in: world)
        world.with { _ in records.value.hold() }
        greedy.send(Self.scan)
        greedy.setRoom(false)
        if hasRoomAtTheEnd {
            greedy.setRoom(true)
            #expect(!greedy.isRead)
        }
        letGo(records, world)
        #expect(greedy.isRead == hasRoomAtTheEnd)
        #expect(isScanning("greedy", in: world))
        greedy.setRoom(true)
        #expect(greedy.isRead)
    }

    @Test("AB-G05, behaviour 10.4: a process that dies while it waits for the disk leaves its requests")
    func aProcessThatDiesWhileItWaits() {
        let held = HeldRecords()
        let world = ClientWorld(records: held)
        let records = LoopBound(held, loop: world.world.loop)
        let greedy = app("greedy", in: world)
        world.with { _ in records.value.hold() }
        greedy.send(Self.scan)
        greedy.die()
        let kept = world.with {
            $0.apps.preservation.identifiersToRestore(of: AppIdentity(name: "greedy", owner: ClientWorld.owner))
        }
        #expect(kept.centrals == ["one"])
        letGo(records, world)
        let requests = world.with { system in
            system.managers.sessions(of: AppIdentity(name: "greedy", owner: ClientWorld.owner)).map(
                \.manager.intent.requests.count
            )
        }
        #expect(requests == [1])
    }
}

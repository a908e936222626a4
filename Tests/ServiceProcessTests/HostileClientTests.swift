import BluetoothSimulation
import BluetoothTypes
import EventLoops
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import ServiceProcess

/// Clients cannot harm the service or each other (AB-G05).
@Suite struct HostileClientTests {
    private let scan = Request.central(.startScan(ScanRequest(services: nil, allowsDuplicates: true)))

    @Test("AB-G05: a client that sends nothing is disconnected after a while")
    func silentClientsAreDisconnected() {
        let world = ClientWorld()
        let client = world.connect()
        world.world.run(for: .milliseconds(4_990))
        #expect(!client.isClosed)
        world.world.run(for: .milliseconds(20))
        #expect(client.goodbye()?.contains("no message arrived") == true)
        #expect(client.isClosed)
        #expect(world.clients.with { $0.callers.isEmpty })
    }

    @Test("AB-G05: a client that has opened its connection in time may stay silent")
    func openedClientsMayStaySilent() {
        let world = ClientWorld()
        let client = world.connect().greeting()
        world.world.run(for: .seconds(60))
        #expect(!client.isClosed)
    }

    @Test("AB-G05: a client of another version is told the service's version", arguments: [0, 10, 12, 99] as [UInt16])
    func anotherVersionIsTold(version: UInt16) {
        let world = ClientWorld()
        for kind in [0, 1] as [UInt8] {
            let client = world.connect()
            client.send([kind, UInt8(version), 0, 1, 2, 3])
            let text = client.goodbye()
            #expect(text?.contains("version \(version)") == true && text?.contains("same release") == true)
            #expect(client.isClosed)
        }
        #expect(world.log.all.contains { $0.contains("process 1 of user 1000") && $0.contains("version \(version)") })
    }

    @Test("AB-G05: an invalid message ends its own connection only")
    func invalidMessagesEndTheirConnection() {
        let world = ClientWorld()
        let other = world.connect()
        other.greet("other")
        other.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        let whole = Opening.app(Hello(AppIdentity(name: "app"))).encoded()
        let garbage: [PacketBuffer] = [
            [], [7], [0], PacketBuffer(Array(whole.bytes.dropLast())), PacketBuffer(whole.bytes + [0]),
            AppMessage.closeManager(ManagerID(1)).encoded(),
        ]
        for octets in garbage {
            let client = world.connect()
            client.send(octets)
            #expect(client.goodbye() != nil && client.isClosed, "\(octets.bytes)")
        }
        for octets in [[], [9], [0, 1], whole.bytes] as [[UInt8]] {
            let client = world.connect().greeting()
            client.send(PacketBuffer(octets))
            #expect(client.goodbye() != nil && client.isClosed, "\(octets)")
        }
        other.send(.query(ManagerID(1), number: 3, .system))
        #expect(other.take().contains { if case .reply(3, .success) = $0 { true } else { false } })
    }

    @Test("AB-G05: a number identifies a manager within its own app only")
    func aNumberNamesOneManager() {
        let world = ClientWorld()
        let (one, two) = (world.connect(), world.connect())
        one.greet("one")
        two.greet("two")
        one.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        one.send(.request(ManagerID(1), scan))
        two.send(.closeManager(ManagerID(1)))
        two.send(.request(ManagerID(1), .central(.stopScan)))
        #expect(world.with { $0.centrals.filter(\.scans).count } == 1)
        two.send(.query(ManagerID(1), number: 1, .peripherals(identifiers: [])))
        #expect(two.take() == [.reply(number: 1, .failure(.noManager))])
        for number in [1, 0] as [UInt32] {
            let liar = world.connect()
            liar.greet("liar")
            liar.send(.openManager(ManagerID(1), .central, ManagerOptions()))
            liar.send(.openManager(ManagerID(number), .peripheral, ManagerOptions()))
            #expect(liar.goodbye()?.contains("manager \(number)") == true && liar.isClosed)
        }
        #expect(!one.isClosed)
        #expect(!two.isClosed)
    }

    @Test("AB-G05: managers beyond an app's limit stay unsupported")
    func moreManagersStayUnsupported() {
        let world = ClientWorld()
        let client = world.connect().greeting()
        for number in 1...UInt32(ServiceLimits.managers) {
            client.send(.openManager(ManagerID(number), .central, ManagerOptions()))
        }
        #expect(client.events() == [Event](repeating: .stateChanged(.poweredOn), count: ServiceLimits.managers))
        for number in 1_000...1_200 as ClosedRange<UInt32> {
            client.send(.openManager(ManagerID(number), .central, ManagerOptions()))
        }
        #expect(client.events() == [Event](repeating: .stateChanged(.unsupported), count: 201))
        #expect(world.with { $0.centrals.count } == ServiceLimits.managers)
    }

    @Test("AB-G05: everything that a process started ends with it")
    func activitiesEndWithTheirProcess() {
        let world = ClientWorld()
        let client = world.connect().greeting()
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        client.send(.request(ManagerID(1), scan))
        #expect(world.with { $0.centrals.count } == 1)
        client.die()
        #expect(world.with { $0.centrals.isEmpty })
        #expect(world.clients.with { $0.callers.isEmpty })
    }

    @Test("AB-G05: unread messages to a client are bounded, and its requests are not read meanwhile")
    func unreadMessagesAreBounded() {
        let world = ClientWorld()
        let client = world.connect().greeting()
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        _ = client.take()
        client.setRoom(false)
        #expect(!client.isRead)
        for isOn in [false, true, false, true] {
            world.phone.setPower(isOn)
            world.world.run(for: .seconds(1))
        }
        client.send(.query(ManagerID(1), number: 1, .system))
        #expect(client.take().isEmpty)
        client.setRoom(true)
        let messages = client.take()
        let events = messages.compactMap { if case .event(_, let event) = $0 { event } else { nil } }
        #expect(events == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
        #expect(messages.contains { if case .reply(1, .success) = $0 { true } else { false } })
    }

    @Test("AB-G05: an app belongs to the user reported by the kernel, whatever it claims")
    func anAppIsOfItsUser() {
        let world = ClientWorld(admitsOtherUsers: true)
        let client = world.connect(user: 1_234)
        client.send(Opening.app(Hello(AppIdentity(name: "app", owner: 0))).encoded())
        client.send(
            .openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false, restoreIdentifier: "x"))
        )
        client.die()
        #expect(world.with { Array($0.apps.preservation.apps.keys) } == [AppIdentity(name: "app", owner: 1_234)])
    }

    @Test("AB-G05: a client of another user is refused with advice, and root and the owner are admitted")
    func clientsOfOtherUsersAreRefused() {
        let world = ClientWorld()
        let client = world.connect(user: 1_001).greeting()
        client.send(AppMessage.misuse("").encoded())
        #expect(client.isClosed)
        let again = world.connect(user: 1_001)
        again.send(Opening.app(Hello(AppIdentity(name: "app"))).encoded())
        let text = again.goodbye() ?? ""
        #expect(text.contains("user 1000"))
        #expect(text.contains("user 1001"))
        #expect(text.contains("HARALD_SERVICE"))
        for user in [0, ClientWorld.owner] {
            let welcome = world.connect(user: user)
            welcome.send(Opening.app(Hello(AppIdentity(name: "app"))).encoded())
            #expect(welcome.take() == [.welcome(Welcome())])
        }
    }

    @Test("AB-G05: one user cannot exhaust the places of all")
    func oneUserDoesNotTakeAllRoom() {
        let world = ClientWorld(admitsOtherUsers: true)
        let many = (0..<ServiceLimits.clients.user).map { _ in world.connect(user: 7) }
        #expect(many.allSatisfy { !$0.isClosed })
        let over = world.connect(user: 7)
        world.world.run(for: .milliseconds(1))
        #expect(over.isClosed)
        let other = world.connect(user: 8)
        world.world.run(for: .milliseconds(1))
        #expect(!other.isClosed)
        many[0].die()
        let next = world.connect(user: 7)
        world.world.run(for: .milliseconds(1))
        #expect(!next.isClosed)
    }
}

import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import Testing

@Suite struct ServerUpdateTests {
    let client: BareClient
    var server: GATTServer { client.fixture.server }
    var app: RecordingApp { client.fixture.app }

    init() throws {
        client = try ServerFixture().bareClient()
    }

    @Test(
        "GATT/SR/GAN/BV-01, GATT/SR/GAI/BV-01, behaviour 7.45: the client decides between notifications and indications"
    )
    func theClientDecides() {
        #expect(server.update([1], of: 23))
        #expect(client.sent().isEmpty)
        client.exchange([0x12, 24, 0, 1, 0])
        #expect(server.update([2], of: 23))
        #expect(client.sent() == [[0x1B, 23, 0, 2]])
        client.exchange([0x12, 24, 0, 2, 0])
        #expect(server.update([3], of: 23))
        #expect(server.update([4], of: 23))
        #expect(client.sent() == [[0x1D, 23, 0, 3]])
        #expect(client.exchange([0x1E]) == [0x1D, 23, 0, 4])
        client.exchange([0x12, 24, 0, 3, 0])
        #expect(server.update([5], of: 23))
        #expect(client.sent() == [[0x1B, 23, 0, 5]])
        client.exchange([0x12, 24, 0, 0, 0])
        #expect(server.update([6], of: 23))
        #expect(client.sent().isEmpty)
    }

    @Test("behaviours 7.42, 7.44: each subscriber gets as much of a value as its link carries")
    func eachSubscriberGetsWhatItsLinkCarries() {
        let other = client.fixture.bareClient()
        let stranger = client.fixture.bareClient()
        client.exchange([0x12, 24, 0, 1, 0])
        other.exchange([0x12, 24, 0, 1, 0])
        other.agree(185)
        let value = [UInt8](0..<100)
        #expect(server.update(PacketBuffer(copying: value), of: 23))
        #expect(client.sent() == [[0x1B, 23, 0] + value.prefix(20)])
        #expect(other.sent() == [[0x1B, 23, 0] + value])
        #expect(server.update([1], of: 23, for: [client.session, stranger.session]))
        #expect(client.sent().count == 1)
        #expect(other.sent().isEmpty)
        #expect(stranger.sent().isEmpty)
    }

    @Test("behaviour 7.43: a full queue accepts no update and reports free space once")
    func aFullQueueTakesNothingAndTellsOfRoomOnce() {
        let other = client.fixture.bareClient()
        client.exchange([0x12, 24, 0, 1, 0])
        other.exchange([0x12, 24, 0, 1, 0])
        client.link.isHeld = true
        var taken = 0
        while server.update([UInt8(taken)], of: 23) { taken += 1 }
        #expect(taken == 20)
        #expect(other.sent().count == 20)
        #expect(app.ready == 0)
        client.link.release(1)
        client.link.release(1)
        #expect(app.ready == 1)
        #expect(server.update([99], of: 23))
        client.link.isHeld = false
        #expect(client.sent().map { $0[3] } == (0..<20).map { UInt8($0) } + [99])
        #expect(app.ready == 1)
    }

    @Test("behaviour 7.40: the end of a link ends its subscriptions")
    func theEndUnsubscribes() {
        client.exchange([0x12, 24, 0, 1, 0])
        client.exchange([0x12, 9, 0, 2, 0])
        client.connection.close()
        #expect(app.configurations == ["23: 0-1", "8: 0-2", "8: 2-0", "23: 1-0"])
        #expect(server.update([1], of: 23))
    }

    @Test("GATT/SR/GAN/BV-03: a bonded client keeps its subscriptions")
    func aBondedClientKeepsItsChoice() {
        let bonded = client.fixture.bareClient(record: ClientRecord(configurations: [23: .notify]))
        #expect(server.update([1], of: 23))
        #expect(bonded.sent() == [[0x1B, 23, 0, 1]])
        #expect(client.sent().isEmpty)
    }

    @Test("GATT/SR/GAT/BV-01: an indication that is not confirmed ends the session")
    func anUnconfirmedIndicationEndsTheSession() {
        client.exchange([0x12, 24, 0, 2, 0])
        #expect(server.update([1], of: 23))
        client.fixture.loop.run(for: .seconds(31))
        #expect(server.sessions.isEmpty)
        #expect(app.configurations.last == "23: 2-0")
    }

    @Test("GATT/SR/GAS/BV-01, behaviour 7.12: services that are added or removed are indicated as Service Changed")
    func serviceChanged() throws {
        let stranger = client.fixture.bareClient()
        client.exchange([0x12, 9, 0, 2, 0])
        let added = try client.fixture.database.add(ServiceDefinition(0x1801))
        #expect(added.handles == 34...34)
        #expect(client.sent() == [[0x1D, 8, 0, 34, 0, 34, 0]])
        // Changes before the confirmation are merged into one range.
        try client.fixture.database.remove(19)
        try client.fixture.database.remove(15)
        #expect(client.sent().isEmpty)
        #expect(client.exchange([0x1E]) == [0x1D, 8, 0, 15, 0, 33, 0])
        #expect(client.exchange([0x1E]).isEmpty)
        #expect(stranger.sent().isEmpty)
        #expect(client.exchange([0x0A, 28, 0]) == client.error(0x0A, 28, .invalidHandle))
    }

    @Test func removedCharacteristicsHaveNoSubscribers() throws {
        client.exchange([0x12, 24, 0, 1, 0])
        try client.fixture.database.remove(19)
        #expect(client.session.configurations.isEmpty)
        #expect(server.update([1], of: 23))
        #expect(client.sent().isEmpty)
    }

    @Test("GATT/SR/GAS/BV-05, AB-A11: a client that missed a change receives no values before it is aware")
    func aClientThatMissedAChange() throws {
        client.exchange([0x12, 24, 0, 1, 0])
        client.exchange([0x12, 11, 0, 1])
        _ = try client.fixture.database.add(ServiceDefinition(0x1801))
        // No values are sent to it, its commands are ignored, discovery continues, and its next request is refused
        // once.
        #expect(server.update([1], of: 23))
        #expect(client.exchange([0x52, 28, 0, 1]).isEmpty)
        #expect(app.writes.isEmpty)
        #expect(client.exchange([0x10, 34, 0, 0xFF, 0xFF, 0, 0x28]).first == 0x11)
        #expect(client.exchange([0x0A, 14, 0]) == client.error(0x0A, 14, .databaseOutOfSync))
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
        #expect(server.update([1], of: 23))
        #expect(client.sent().count == 1)
    }

    @Test("GATT/SR/GAS/BV-06: confirming Service Changed makes the client aware")
    func theConfirmationMakesAware() throws {
        client.exchange([0x12, 9, 0, 2, 0])
        client.exchange([0x12, 11, 0, 1])
        _ = try client.fixture.database.add(ServiceDefinition(0x1801))
        #expect(client.sent().first?.first == 0x1D)
        client.exchange([0x1E])
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
    }
}

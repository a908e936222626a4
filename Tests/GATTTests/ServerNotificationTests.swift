import ATT
import BluetoothTypes
import GATT
import LoopbackLinks
import Testing

/// Several values in one notification.
@Suite struct ServerNotificationTests {
    let fixture: ServerFixture
    let client: BareClient
    let handles: [UInt16]

    init() throws {
        fixture = try ServerFixture()
        let notified = CharacteristicDefinition(
            0x2A6E,
            properties: [.notify, .indicate],
            permissions: AttributePermissions()
        )
        let published = try fixture.database.add(
            ServiceDefinition(0x181A, characteristics: Array(repeating: notified, count: 3))
        )
        handles = published.characteristics.map(\.value)
        client = fixture.bareClient()
        #expect(handles == [36, 39, 42])
    }

    private func subscribe(_ client: BareClient, _ choice: UInt8 = 1) {
        for handle in handles { #expect(client.exchange([0x12, UInt8(handle) + 1, 0, choice, 0]) == [0x13]) }
    }

    private typealias Values = [(UInt16, [UInt8])]

    private func update(_ values: Values, for clients: [BareClient]) -> Bool {
        fixture.server.update(
            values.map { (handle: $0, value: PacketBuffer(copying: $1)) },
            for: clients.map(\.session)
        )
    }

    private func announce(_ bits: UInt8, _ client: BareClient) {
        #expect(client.exchange([0x12, 11, 0, bits]) == [0x13])
    }

    @Test("GATT/SR/GAN/BV-02: several values in one notification go only to clients that announced support")
    func toThoseThatHaveAnnouncedIt() {
        subscribe(client)
        announce(0xFC, client)
        #expect(client.exchange([0x0A, 11, 0]) == [0x0B, 4])
        let second = fixture.bareClient()
        #expect(second.exchange([0x0A, 11, 0]) == [0x0B, 0])
        #expect(update([(36, [1]), (39, [2, 3]), (42, [])] as Values, for: [client]))
        #expect(client.sent() == [[0x23, 36, 0, 1, 0, 1, 39, 0, 2, 0, 2, 3, 42, 0, 0, 0]])
        #expect(update([(36, [1]), (39, [2, 3])] as Values, for: [second]))
        #expect(second.sent().isEmpty)
        // A client that has subscribed without announcing support gets them one by one.
        subscribe(second)
        #expect(update([(36, [1]), (39, [2, 3])] as Values, for: [second]))
        #expect(second.sent() == [[0x1B, 36, 0, 1], [0x1B, 39, 0, 2, 3]])
    }

    @Test func noValueIsCut() {
        subscribe(client)
        announce(4, client)
        let ten = [UInt8](repeating: 7, count: 10)
        let long = [UInt8](repeating: 8, count: 30)
        // 23 octets hold one tuple of ten but not two; a value that fits no tuple is sent as usual.
        #expect(update([(36, ten), (39, [1, 2, 3, 4]), (42, ten), (36, long), (39, [5])] as Values, for: [client]))
        #expect(
            client.sent() == [
                [0x23, 36, 0, 10, 0] + ten + [39, 0, 4, 0, 1, 2, 3, 4],
                [0x1B, 42, 0] + ten, [0x1B, 36, 0] + long.prefix(20), [0x1B, 39, 0, 5],
            ]
        )
    }

    @Test func valuesThatWaitForTheControllerWaitTogether() {
        subscribe(client)
        announce(4, client)
        client.link.isHeld = true
        for value: UInt8 in 1...5 { #expect(fixture.server.update([value], of: 36)) }
        // The first value is queued alone, the others after it in as few notifications as possible.
        client.link.isHeld = false
        #expect(
            client.sent() == [
                [0x1B, 36, 0, 1],
                [0x23, 36, 0, 1, 0, 2, 36, 0, 1, 0, 3, 36, 0, 1, 0, 4, 36, 0, 1, 0, 5],
            ]
        )
        #expect(fixture.server.update([6], of: 36))
        #expect(client.sent() == [[0x1B, 36, 0, 6]])
    }

    @Test func joinedNotificationsKeepTheirOrder() {
        subscribe(client)
        announce(4, client)
        #expect(client.exchange([0x12, 43, 0, 2, 0]) == [0x13])
        client.link.isHeld = true
        #expect(fixture.server.update([1], of: 36))
        #expect(fixture.server.update([2], of: 36))
        #expect(fixture.server.update([3], of: 39))
        // An indication does not overtake them, and other PDUs on the link delay them no longer than necessary.
        #expect(fixture.server.update([4], of: 42))
        #expect(fixture.server.update([5], of: 36))
        client.link.isHeld = false
        #expect(
            client.sent() == [
                [0x1B, 36, 0, 1], [0x23, 36, 0, 1, 0, 2, 39, 0, 1, 0, 3], [0x1D, 42, 0, 4], [0x1B, 36, 0, 5],
            ]
        )
    }

    @Test func unannouncedClientsGetSingleNotifications() {
        subscribe(client)
        client.link.isHeld = true
        for value: UInt8 in 1...3 { #expect(fixture.server.update([value], of: 36)) }
        client.link.isHeld = false
        #expect(client.sent() == [[0x1B, 36, 0, 1], [0x1B, 36, 0, 2], [0x1B, 36, 0, 3]])
    }

    @Test("GATT/SR/GAW/BV-06: a reliable write of several values is executed at once")
    func aReliableWriteOfSeveralValues() throws {
        let open = AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)
        let reliable = CharacteristicDefinition(
            0x2A39,
            properties: [.read, .write],
            permissions: open,
            extendedProperties: .reliableWrite
        )
        let published = try fixture.database.add(
            ServiceDefinition(0x1805, characteristics: [reliable, reliable])
        )
        let (first, second) = (published.characteristics[0].value, published.characteristics[1].value)
        #expect(client.exchange([0x0A, UInt8(first) + 1, 0]) == [0x0B, 1, 0])
        for (handle, offset, value) in [(first, 0, 1), (second, 0, 2), (first, 1, 3)] as [(UInt16, UInt8, UInt8)] {
            let part = [UInt8(handle), 0, offset, 0, value]
            #expect(client.exchange([0x16] + part) == [0x17] + part)
        }
        #expect(fixture.app.values[first] == nil)
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(client.exchange([0x0A, UInt8(first), 0]) == [0x0B, 1, 3])
        #expect(client.exchange([0x0A, UInt8(second), 0]) == [0x0B, 2])
    }

    /// Values that the client wants notified are combined; the others go by the procedure it has chosen, and those it
    /// has not subscribed to are not sent.
    @Test func valuesGoTheWayThatTheClientHasChosen() {
        announce(4, client)
        for (handle, choice) in [(36, 2), (39, 1)] as [(UInt8, UInt8)] {
            #expect(client.exchange([0x12, handle + 1, 0, choice, 0]) == [0x13])
        }
        #expect(update([(36, [1]), (39, [2]), (42, [3]), (39, [4])], for: [client]))
        #expect(client.sent() == [[0x23, 39, 0, 1, 0, 2, 39, 0, 1, 0, 4], [0x1D, 36, 0, 1]])
    }

    /// A full queue delays the values for that client, and no others.
    @Test func aFullQueueHoldsUpWhatGoesThere() {
        subscribe(client)
        let other = fixture.bareClient()
        #expect(other.exchange([0x12, 37, 0, 1, 0]) == [0x13])
        other.link.isHeld = true
        var taken: UInt8 = 0
        while update([(36, [taken])], for: [other]) { taken += 1 }
        #expect(taken == 20)
        // A value for the first client only.
        #expect(fixture.server.update([1], of: 39))
        #expect(update([(39, [2]), (42, [3])], for: [client, other]))
        #expect(client.sent() == [[0x1B, 39, 0, 1], [0x1B, 39, 0, 2], [0x1B, 42, 0, 3]])
        #expect(fixture.app.ready == 0)
        // A value for both goes to neither until there is space.
        #expect(!fixture.server.update([4], of: 36))
        #expect(!update([(36, [5]), (39, [6])], for: [client, other]))
        #expect(client.sent().isEmpty)
        other.link.isHeld = false
        #expect(fixture.app.ready == 1 && other.sent().map { $0[3] } == Array(0..<20))
        #expect(update([(36, [5]), (39, [6])], for: [client, other]))
        #expect(client.sent().count == 2)
        #expect(other.sent() == [[0x1B, 36, 0, 5]])
    }

    @Test func noValuesWhileTheMTUIsBeingAgreedUpon() {
        subscribe(client)
        client.session.bearer.exchangeMTU { _ in }
        #expect(client.sent() == [[0x02, 5, 2]])
        #expect(!fixture.server.update([1], of: 36))
        #expect(client.sent().isEmpty)
        client.peer.inject([0x03, 100, 0], on: 4)
        #expect(client.sent().isEmpty)
        #expect(fixture.app.ready == 1)
        #expect(fixture.server.update([2], of: 36))
        #expect(client.sent() == [[0x1B, 36, 0, 2]])
    }

    @Test func readingByTypeAnswersSeveralValuesOfTheApp() throws {
        let open = AttributePermissions(read: SecurityLevel.none)
        let asked = CharacteristicDefinition(0x2A6F, properties: .read, permissions: open)
        let published = try fixture.database.add(
            ServiceDefinition(0x1805, characteristics: Array(repeating: asked, count: 4))
        )
        let values = published.characteristics.map(\.value)
        for handle in values { fixture.app.values[handle] = [UInt8(handle), 1] }
        fixture.app.values[values[2]] = [9]
        let first = UInt8(values[0])
        let request: [UInt8] = [0x08, first, 0, 0xFF, 0xFF, 0x6F, 0x2A]
        // As many as have the length of the first.
        #expect(client.exchange(request) == [0x09, 4, first, 0, first, 1, first + 2, 0, first + 2, 1])
        // An error after the first value ends the response; the client requests that value itself.
        fixture.app.refusals[values[1]] = .insufficientAuthorization
        #expect(client.exchange(request) == [0x09, 4, first, 0, first, 1])
        let next: [UInt8] = [0x08, first + 1, 0, 0xFF, 0xFF, 0x6F, 0x2A]
        #expect(client.exchange(next) == client.error(0x08, values[1], .insufficientAuthorization))
        // A slow app is asked for one value after the other.
        fixture.app.refusals = [:]
        fixture.app.isSlow = true
        fixture.app.reads = []
        #expect(client.exchange(request).isEmpty)
        #expect(fixture.app.reads.count == 1)
        fixture.app.answer(fixture.app.reads[0])
        fixture.app.answer(fixture.app.reads[1])
        fixture.app.answer(fixture.app.reads[2])
        #expect(client.sent() == [[0x09, 4, first, 0, first, 1, first + 2, 0, first + 2, 1]])
    }
}

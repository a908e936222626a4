import ATT
import BluetoothTypes
import GATT
import L2CAP
import Testing

@Suite struct ServerWriteTests {
    let client: BareClient
    var app: RecordingApp { client.fixture.app }
    let executed: [UInt8] = [0x19]

    init() throws {
        client = try ServerFixture().bareClient()
    }

    private func prepare(_ handle: UInt8, _ offset: Int, _ value: [UInt8]) -> [UInt8] {
        client.exchange([0x16, handle, 0, UInt8(truncatingIfNeeded: offset), UInt8(offset >> 8)] + value)
    }

    @Test("GATT/SR/GAW/BV-01: a write without response is executed or ignored")
    func writesWithoutResponse() {
        #expect(client.exchange([0x52, 28, 0, 1, 2]).isEmpty)
        #expect(app.values[28] == [1, 2])
        #expect(app.writes.map(\.expectsResponse) == [false])
        // Commands that cannot be executed are ignored.
        for octets: [UInt8] in [[0x52, 14, 0, 1], [0x52, 99, 0, 1], [0x52, 0, 0], [0x52, 31, 0, 1]] {
            #expect(client.exchange(octets).isEmpty)
        }
        #expect(app.writes.count == 1)
    }

    @Test func signedWritesAreIgnoredWithoutAKey() {
        #expect(client.exchange([0xD2, 28, 0, 1] + [UInt8](repeating: 0, count: 12)).isEmpty)
        #expect(app.writes.isEmpty)
    }

    @Test(
        "GATT/SR/GAW/BV-03, GATT/SR/GAW/BI-02, GATT/SR/GAW/BI-03: a write is answered, with an error where it is not possible"
    )
    func writesWithResponse() {
        #expect(client.exchange([0x12, 28, 0, 1, 2]) == [0x13])
        #expect(client.exchange([0x12, 28, 0]) == [0x13])
        #expect(app.writes.map { $0.writes[0].value.count } == [2, 0])
        #expect(app.writes.map(\.expectsResponse) == [true, true])
        #expect(client.exchange([0x12, 99, 0, 1]) == client.error(0x12, 99, .invalidHandle))
        #expect(client.exchange([0x12, 14, 0, 1]) == client.error(0x12, 14, .writeNotPermitted))
    }

    @Test("GATT/SR/GAW/BI-32, GATT/SR/GAW/BI-33, GATT/SR/GAW/BI-39: values above 512 octets are refused")
    func valuesAbove512Octets() {
        client.agree(517)
        let long = [UInt8](repeating: 1, count: 513)
        #expect(client.exchange([0x12, 28, 0] + long) == client.error(0x12, 28, .invalidAttributeValueLength))
        #expect(client.exchange([0x52, 28, 0] + long).isEmpty)
        #expect(client.exchange([0x12, 28, 0] + long.dropLast()) == [0x13])
        _ = prepare(28, 500, [UInt8](repeating: 1, count: 13))
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .invalidAttributeValueLength))
        #expect(app.writes.count == 1)
    }

    @Test(
        "GATT/SR/GAW/BV-05, GATT/SR/GAW/BV-09, GATT/SR/GAW/BV-10, behaviour 7.34: prepared writes are executed together"
    )
    func preparedWrites() {
        #expect(prepare(28, 0, [1, 2]) == [0x17, 28, 0, 0, 0, 1, 2])
        #expect(prepare(29, 0, [9]) == [0x17, 29, 0, 0, 0, 9])
        #expect(prepare(28, 2, [3]) == [0x17, 28, 0, 2, 0, 3])
        #expect(app.writes.isEmpty)
        app.values[28] = [0, 0, 0]
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(
            app.writes.map(\.writes) == [
                [
                    GATTWrite(handle: 28, value: [1, 2]), GATTWrite(handle: 29, value: [9]),
                    GATTWrite(handle: 28, offset: 2, value: [3]),
                ]
            ]
        )
        #expect(app.values[28] == [1, 2, 3])
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(app.writes.map(\.expectsResponse) == [true])
    }

    /// At the end of the longest value only an empty part is possible; the app is asked about possible writes only.
    @Test(
        "GATT/SR/GAW/BI-33: nothing is written past the end of the longest value",
        arguments: [
            (511, 1, ATTErrorCode.invalidOffset, true), (512, 0, .invalidOffset, true),
            (512, 1, .invalidAttributeValueLength, false), (513, 0, .invalidOffset, false),
        ]
    )
    func theEndOfTheLongestValue(offset: Int, count: Int, code: ATTErrorCode, isAsked: Bool) {
        #expect(prepare(28, offset, [UInt8](repeating: 1, count: count)).first == 0x17)
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, code))
        #expect(app.writes.isEmpty == !isAsked)
    }

    @Test("GATT/SR/GAW/BV-07: prepared writes are cancelled")
    func preparedWritesAreCancelled() {
        _ = prepare(28, 0, [1])
        #expect(client.exchange([0x18, 0]) == executed)
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(app.writes.isEmpty)
        #expect(client.exchange([0x18, 2]) == client.error(0x18, 0, .invalidPDU))
    }

    @Test("GATT/SR/GAW/BV-11: executing with nothing prepared does nothing")
    func executingWithNothingPreparedDoesNothing() {
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(app.writes.isEmpty)
    }

    @Test(
        "GATT/SR/GAW/BI-07, GATT/SR/GAW/BI-08, GATT/SR/GAW/BI-09: prepared writes are refused at once or all together"
    )
    func prepareRefusals() {
        #expect(prepare(99, 0, [1]) == client.error(0x16, 99, .invalidHandle))
        #expect(prepare(14, 0, [1]) == client.error(0x16, 14, .writeNotPermitted))
        // The offset is checked on execution, where the app refuses it; all or nothing.
        _ = prepare(29, 0, [5])
        _ = prepare(28, 7, [1])
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .invalidOffset))
        #expect(app.values.isEmpty)
        _ = prepare(28, 600, [1])
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .invalidOffset))
    }

    @Test("AB-A01: the queue of prepared writes has a quota for each link")
    func theQueueHasAQuotaForEachLink() throws {
        var refused = 0
        for _ in 0..<1000 where prepare(28, 0, [1]) == client.error(0x16, 28, .prepareQueueFull) { refused += 1 }
        #expect(refused == 1000 - 128)
        let other = client.fixture.bareClient()
        #expect(other.exchange([0x16, 28, 0, 0, 0, 1]).first == 0x17)
        #expect(client.exchange([0x18, 0]) == executed)
        client.agree(517)
        let long = [UInt8](repeating: 1, count: 500)
        let answers = (0..<20).map { _ in prepare(28, 0, long).first }
        #expect(answers == Array(repeating: 0x17, count: 16) + Array(repeating: 0x01, count: 4))
        client.connection.close()
        #expect(client.fixture.server.sessions.count == 1)
        #expect(app.writes.isEmpty)
    }

    @Test("GATT/SR/GAW/BI-41, AB-A02: prepared writes are refused when their attribute has been removed")
    func theAttributeIsGone() throws {
        _ = prepare(17, 0, [1])
        _ = prepare(28, 0, [1])
        try client.fixture.database.remove(19)
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .databaseOutOfSync))
        #expect(app.writes.isEmpty)
    }

    @Test("AB-A02: prepared writes are refused when the security is lost")
    func securityIsGone() {
        client.session.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        _ = prepare(28, 0, [1])
        _ = prepare(31, 0, [1])
        client.session.security = LinkSecurity(isEncrypted: false)
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 31, .insufficientEncryption))
        #expect(app.writes.isEmpty)
    }

    @Test("GATT/SR/GAW/BV-08: descriptors are written where permitted")
    func descriptorsAreWritten() {
        #expect(client.exchange([0x12, 29, 0, 4]) == [0x13])
        #expect(client.exchange([0x0A, 29, 0]) == [0x0B, 4])
        #expect(client.exchange([0x12, 18, 0, 4]) == client.error(0x12, 18, .writeNotPermitted))
    }

    @Test func clientConfigurationsAreEachClientsOwn() {
        let other = client.fixture.bareClient()
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, 1, 0])
        #expect(other.exchange([0x0A, 24, 0]) == [0x0B, 0, 0])
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        #expect(client.exchange([0x12, 24, 0, 2, 0]) == [0x13])
        #expect(client.exchange([0x12, 24, 0, 0, 0]) == [0x13])
        #expect(app.configurations == ["23: 0-1", "23: 1-2", "23: 2-0"])
        for value: [UInt8] in [[], [1], [1, 0, 0]] {
            let answer = client.exchange([0x12, 24, 0] + value)
            #expect(answer == client.error(0x12, 24, .invalidAttributeValueLength))
        }
        // Service Changed has no notifications.
        #expect(client.exchange([0x12, 9, 0, 1, 0]) == client.error(0x12, 9, .improperlyConfigured))
    }

    @Test("AB-A11: reserved bits of a client configuration are ignored")
    func reservedBitsOfAConfigurationAreNotLookedAt() {
        #expect(client.exchange([0x12, 24, 0, 0xFD, 0xFF]) == [0x13])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, 1, 0])
    }

    @Test func aConfigurationMayBePrepared() {
        _ = prepare(24, 0, [2])
        _ = prepare(24, 1, [0])
        _ = prepare(28, 0, [7])
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(client.session.configurations == [23: .indicate])
        #expect(app.values[28] == [7])
        _ = prepare(24, 0, [0, 0])
        _ = prepare(28, 0, [8])
        app.refusals[28] = .valueNotAllowed
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .valueNotAllowed))
        #expect(client.session.configurations == [23: .indicate])
    }

    /// Every part is queued, and the parts are executed in order of arrival on the value at that point (Core Vol 3 Part
    /// F 3.4.6.1, 3.4.6.3): not adjacent, not from the beginning, and overlapping.
    @Test(
        arguments: [
            ([(24, 1, [0]), (24, 0, [2])], .indicate), ([(24, 0, [1, 0]), (28, 0, [7]), (24, 0, [2])], .indicate),
            ([(24, 0, [1, 0]), (28, 0, [7]), (24, 1, [0]), (28, 1, [8])], .notify), ([(24, 2, [])], []),
            ([(24, 0, [3]), (24, 0, [1])], .notify),
        ] as [([(UInt8, Int, [UInt8])], ClientConfiguration)]
    )
    func partsOfTheClientsOwnValuesAreExecutedInOrder(parts: [(UInt8, Int, [UInt8])], choice: ClientConfiguration) {
        for (handle, offset, value) in parts { #expect(prepare(handle, offset, value).first == 0x17) }
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(client.session.configurations[23] ?? [] == choice)
    }

    @Test func partsBeyondTheEndOfTheClientsOwnValues() {
        for (parts, code) in [
            ([(24, 3, [0])], .invalidOffset), ([(24, 2, [0])], .invalidAttributeValueLength),
            ([(24, 0, [1, 0]), (24, 1, [0, 0])], .invalidAttributeValueLength), ([(11, 2, [1])], .invalidOffset),
            ([(11, 0, [1]), (11, 2, [0])], .invalidOffset), ([(11, 0, [1]), (24, 511, [1])], .invalidOffset),
        ] as [([(UInt8, Int, [UInt8])], ATTErrorCode)] {
            for (handle, offset, value) in parts { #expect(prepare(handle, offset, value).first == 0x17) }
            let handle = UInt16(parts.last?.0 ?? 0)
            #expect(client.exchange([0x18, 1]) == client.error(0x18, handle, code))
            // All or nothing, and nothing is left.
            #expect(client.session.configurations.isEmpty)
            #expect(client.session.features.isEmpty)
            #expect(client.exchange([0x18, 1]) == executed)
        }
    }

    /// Features are as long as the client writes them, and the final value counts.
    @Test func featuresInParts() {
        _ = prepare(11, 1, [0])
        _ = prepare(11, 0, [1])
        _ = prepare(11, 1, [0xFF])
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(client.session.features == .robustCaching)
        _ = prepare(11, 0, [0])
        _ = prepare(11, 0, [5])
        #expect(client.exchange([0x18, 1]) == executed)
        #expect(client.session.features == [.robustCaching, .multipleNotifications])
        _ = prepare(11, 0, [1])
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 11, .valueNotAllowed))
    }

    @Test("GATT/SR/GAS/BV-03: client features cannot be withdrawn")
    func featuresAreAnnouncedForGood() {
        #expect(client.exchange([0x0A, 11, 0]) == [0x0B, 0])
        #expect(client.exchange([0x12, 11, 0, 0xFC]) == [0x13])
        #expect(client.exchange([0x0A, 11, 0]) == [0x0B, 0x04])
        #expect(client.exchange([0x12, 11, 0, 0]) == client.error(0x12, 11, .valueNotAllowed))
        #expect(client.exchange([0x12, 11, 0]) == client.error(0x12, 11, .invalidAttributeValueLength))
    }
}

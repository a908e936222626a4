import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import Testing

/// Hostile clients, with an assertion for every sentence of the expected behaviour.
@Suite struct AbusiveClientTests {
    let fixture: ServerFixture
    let client: BareClient
    var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        client = fixture.bareClient()
    }

    /// Checks that the server still answers, on this link and on another one.
    private func checkStillServing() {
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
        #expect(fixture.bareClient().exchange([0x0A, 14, 0]) == [0x0B, 0x64])
    }

    // MARK: AB-A01

    @Test("AB-A01: prepared writes are bounded on each of twenty links")
    func preparedWritesOnTwentyLinks() {
        let clients = (0..<20).map { _ in fixture.bareClient() }
        let part: [UInt8] = [0x16, 28, 0, 0, 0] + [UInt8](repeating: 1, count: 18)
        for client in clients {
            // 30 values of maximum length, all at the same place: up to the quota of the link, and then an error each
            // time.
            let answers = (0..<(30 * 512 / 18)).map { _ in client.exchange(part) }
            let taken = answers.prefix { $0.first == 0x17 }.count
            #expect(taken == 128)
            #expect(answers.dropFirst(taken).allSatisfy { $0 == client.error(0x16, 28, .prepareQueueFull) })
        }
        #expect(app.writes.isEmpty)
        // One link's queue does not affect another's; a link that closes takes only its own queue with it.
        clients[0].connection.close()
        #expect(clients[1].exchange([0x18, 0]) == [0x19])
        #expect(clients[1].exchange(part).first == 0x17)
        #expect(clients[2].exchange(part) == client.error(0x16, 28, .prepareQueueFull))
        checkStillServing()
    }

    @Test("AB-A01: prepared writes beyond the length of a value are refused when executed")
    func moreThanAValueHolds() {
        client.agree(517)
        for offset in [0, 250, 500] {
            let value = [UInt8](repeating: 1, count: 250)
            let octets: [UInt8] = [0x16, 28, 0, UInt8(truncatingIfNeeded: offset), UInt8(offset >> 8)] + value
            #expect(client.exchange(octets).first == 0x17)
        }
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .invalidAttributeValueLength))
        #expect(app.writes.isEmpty)
        // Afterwards the queue is empty.
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.writes.isEmpty)
    }

    @Test("AB-A01: a queue of prepared writes that is never executed is discarded")
    func aQueueThatNobodyExecutesIsForgotten() {
        let part: [UInt8] = [0x16, 28, 0, 0, 0, 7]
        for _ in 0..<128 { client.exchange(part) }
        fixture.loop.run(for: .seconds(59))
        #expect(client.exchange(part) == client.error(0x16, 28, .prepareQueueFull))
        fixture.loop.run(for: .seconds(61))
        // However the client goes on, it gets an error that its prepared writes are gone, and then starts over.
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 0, .writeRequestRejected))
        #expect(client.exchange(part).first == 0x17)
        fixture.loop.run(for: .seconds(61))
        #expect(client.exchange([0x16, 28, 0, 1, 0, 8]) == client.error(0x16, 28, .prepareQueueFull))
        #expect(client.exchange([0x18, 1]) == [0x19])
        client.exchange(part)
        fixture.loop.run(for: .seconds(61))
        #expect(client.exchange([0x18, 0]) == [0x19])
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.writes.isEmpty)
        checkStillServing()
    }

    @Test func eachPartGivesAQueueMoreTime() {
        for part: UInt8 in 0..<10 {
            #expect(client.exchange([0x16, 28, 0, part, 0, part]).first == 0x17)
            fixture.loop.run(for: .seconds(50))
        }
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.values[28] == Array(0..<10))
    }

    // MARK: AB-A02

    @Test("AB-A02: a write prepared for one attribute does not reach its successor")
    func anotherAttributeInItsPlace() throws {
        #expect(client.exchange([0x16, 28, 0, 0, 0, 7]).first == 0x17)
        try fixture.database.remove(19)
        // Fresh handles have run out, so the next service reuses the handles of the old one.
        let filler = CharacteristicDefinition(0x2A00, properties: .read, permissions: .readable)
        let service = ServiceDefinition(0x1805, characteristics: Array(repeating: filler, count: 2000))
        var starts: [UInt16] = []
        while starts.last.map({ $0 < 60000 }) ?? true {
            let added = try fixture.database.add(service)
            starts.append(added.handles.lowerBound)
            try fixture.database.remove(added.handles.lowerBound)
        }
        let open = AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)
        let same = CharacteristicDefinition(0x2A39, properties: [.read, .write], permissions: open)
        let again = try fixture.database.add(
            ServiceDefinition(0x180D, characteristics: Array(repeating: same, count: 2000))
        )
        #expect(again.handles.contains(28))
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 28, .databaseOutOfSync))
        #expect(app.writes.isEmpty)
    }

    // MARK: AB-A03

    @Test("AB-A03: the values of one response are truncated at the MTU")
    func valuesThatSumPastTheMTU() {
        client.agree(64)
        let value = [UInt8](repeating: 7, count: 40)
        app.values[28] = value
        let many = (0..<30).flatMap { _ in [28, 0] as [UInt8] }
        #expect(client.exchange([0x0E] + many) == [0x0F] + value + value.prefix(23))
        let tuple: [UInt8] = [40, 0] + value
        #expect(client.exchange([0x20] + many) == [0x21] + tuple + [40, 0] + value.prefix(19))
        // With one octet left, or none, no incomplete length is sent.
        for (length, answer) in [(60, 63), (61, 64), (62, 64), (59, 64), (0, 61)] {
            app.values[28] = [UInt8](repeating: 7, count: length)
            let octets = client.exchange([0x20] + many)
            #expect(octets.count == answer, "\(length)")
            #expect((try? ATTPDU(reading: PacketBuffer(octets))) != nil, "\(length)")
        }
        checkStillServing()
    }

    @Test("AB-A03: a read of several values names the first handle that fails")
    func theFirstHandleThatFails() {
        for opcode: UInt8 in [0x0E, 0x20] {
            // 33 cannot be read, 31 requires a key, 99 does not exist, 0 is never valid.
            for (handles, handle, code) in [
                ([14, 33, 31, 99], 33, .readNotPermitted), ([14, 31, 33], 31, .insufficientAuthentication),
                ([99, 33], 99, .invalidHandle), ([14, 0], 0, .invalidHandle), ([0, 0], 0, .invalidHandle),
            ] as [([UInt8], UInt16, ATTErrorCode)] {
                let octets = [opcode] + handles.flatMap { [$0, UInt8(0)] }
                #expect(client.exchange(octets) == client.error(opcode, handle, code))
            }
            // No handles, half a handle, a single one.
            for octets: [UInt8] in [[], [14], [14, 0], [14, 0, 14]] {
                #expect(client.exchange([opcode] + octets) == client.error(opcode, 0, .invalidPDU))
            }
        }
        #expect(app.reads.isEmpty)
        checkStillServing()
    }

    // MARK: AB-A05, AB-A06, AB-A07

    @Test("AB-A05: every opcode truncated at each length gets an error or no answer")
    func everyOpcodeTruncatedAtEachLength() {
        client.agree(64)
        let samples: [[UInt8]] = [
            [0x02, 64, 0], [0x04, 1, 0, 9, 0], [0x06, 1, 0, 9, 0, 0, 0x28, 0, 0x18], [0x08, 1, 0, 9, 0, 3, 0x28],
            [0x0A, 14, 0], [0x0C, 14, 0, 0, 0], [0x0E, 14, 0, 14, 0], [0x10, 1, 0, 9, 0, 0, 0x28], [0x12, 28, 0, 1],
            [0x16, 28, 0, 0, 0, 1], [0x18, 0], [0x20, 14, 0, 14, 0],
        ]
        for sample in samples {
            for length in 1..<sample.count {
                let octets = Array(sample[..<length])
                let answer = client.exchange(octets)
                let isWhole = (try? ATTPDU(reading: PacketBuffer(octets))) != nil
                #expect(isWhole ? answer.count > 0 : answer == client.error(sample[0], 0, .invalidPDU), "\(octets)")
            }
        }
        // Commands, responses and confirmations of any length are not answered.
        for opcode: UInt8 in [0x52, 0xD2, 0x40, 0x7E, 0x01, 0x03, 0x05, 0x0B, 0x13, 0x17, 0x19, 0x1E, 0x21] {
            for length in 0..<16 {
                #expect(client.exchange([opcode] + [UInt8](repeating: 0, count: length)).isEmpty, "\(opcode) \(length)")
            }
        }
        #expect(client.exchange([]).isEmpty)
        checkStillServing()
    }

    @Test("AB-A06: of a thousand requests at once no more than the limit wait")
    func aThousandRequestsAtOnce() {
        // Requests that can be answered at once are answered, in order.
        for index in 0..<1000 { client.peer.inject(index % 2 == 0 ? [0x0A, 14, 0] : [0x0C, 14, 0, 1, 0], on: 4) }
        let answers = client.sent()
        #expect(answers.count == 1000)
        #expect(answers.enumerated().allSatisfy { $1 == ($0 % 2 == 0 ? [0x0B, 0x64] : [0x0D]) })
        // With a slow app some requests wait, and one more than the limit closes the bearer; nothing is answered then.
        app.isSlow = true
        for _ in 0..<1000 { client.peer.inject([0x0A, 28, 0], on: 4) }
        #expect(client.sent().isEmpty)
        #expect(app.reads.count == 1)
        #expect(client.session.bearer.closure == .tooManyRequests)
        #expect(fixture.server.sessions.isEmpty)
        app.answer(app.reads[0])
        #expect(client.sent().isEmpty)
        #expect(fixture.bareClient().exchange([0x0A, 14, 0]) == [0x0B, 0x64])
    }

    @Test("AB-A07: every response to a search makes progress", arguments: [0x04, 0x08, 0x10, 0x06] as [UInt8])
    func everyAnswerMakesProgress(opcode: UInt8) {
        // A client that continues after the last received handle terminates, whatever type it searches for.
        for type: [UInt8] in [[0, 0x28], [1, 0x28], [3, 0x28], [2, 0x28], [0x37, 0x2A], [0xFF, 0xFF]] {
            var start: UInt16 = 1
            var requests = 0
            while requests < 100 {
                requests += 1
                let range = [UInt8(truncatingIfNeeded: start), UInt8(start >> 8), 0xFF, 0xFF]
                let tail = opcode == 0x04 ? [] : opcode == 0x06 ? type + [0x0D, 0x18] : type
                let answer = client.exchange([opcode] + range + tail)
                guard answer.first == opcode + 1 else {
                    #expect(answer.first == 0x01)
                    break
                }
                let handles = seen(in: answer)
                #expect(handles == handles.sorted())
                #expect(Set(handles).count == handles.count)
                guard let last = handles.last, last >= start, last < .max else {
                    Issue.record("no progress from \(start): \(answer)")
                    break
                }
                start = last + 1
            }
            #expect(requests < 100)
        }
        #expect(client.exchange([0x10, 1, 0, 0xFF, 0xFF, 3, 0x28]) == client.error(0x10, 1, .unsupportedGroupType))
        checkStillServing()
    }

    private func seen(in answer: [UInt8]) -> [UInt16] {
        switch try? ATTPDU(reading: PacketBuffer(answer)) {
        case .findInformationResponse(let response): response.entries.map(\.handle)
        case .findByTypeValueResponse(let response): response.groups.map(\.start)
        case .readByTypeResponse(let response): response.entries.map(\.handle)
        case .readByGroupTypeResponse(let response): response.entries.map(\.group.start)
        default: []
        }
    }

    // MARK: AB-A04

    @Test("AB-A04: only the first MTU exchange counts, and no MTU is below 23")
    func anExchangeAfterTrafficAndTwice() {
        app.values[28] = [UInt8](repeating: 7, count: 600)
        #expect(client.exchange([0x0A, 28, 0]).count == 23)
        for (offered, answered) in [(0, 23), (22, 23), (65535, 23), (100, 23)] as [(UInt16, Int)] {
            client.agree(offered)
            #expect(client.exchange([0x0A, 28, 0]).count == answered)
        }
        let other = fixture.bareClient()
        other.agree(65535)
        #expect(other.exchange([0x0A, 28, 0]).count == 517)
        other.agree(23)
        #expect(other.exchange([0x0A, 28, 0]).count == 517)
        checkStillServing()
    }
}

/// Unsolicited values from a server.
@Suite struct AbusiveServerTests {
    @Test("AB-A09: indications are confirmed, whatever their contents")
    func indicationsAreAlwaysConfirmed() {
        let server = ScriptedServer { _ in nil }
        var values: [String] = []
        server.client.onValue = { values.append("\($0) \($2) \($1)") }
        for octets: [UInt8] in [
            [0x1D, 0, 0, 1], [0x1D, 0xFF, 0xFF], [0x1D, 9, 0] + [UInt8](repeating: 1, count: 60),
        ] {
            server.indicate(octets)
        }
        #expect(server.requests == [[0x1E], [0x1E], [0x1E]])
        // Without a complete handle it is not an indication; a value above the MTU is confirmed and dropped.
        server.indicate([0x1D])
        server.indicate([0x1D, 1])
        #expect(server.requests.count == 3)
        #expect(values == ["0 indication 01", "65535 indication "])
    }

    @Test("AB-A09: truncated notifications deliver only whole values")
    func notificationsWithShortTails() {
        let server = ScriptedServer { _ in nil }
        var values = 0
        server.client.onValue = { _, _, _ in values += 1 }
        let whole: [UInt8] = [0x23, 3, 0, 1, 0, 7, 4, 0, 2, 0, 8, 9]
        for length in 0..<whole.count where length != 6 { server.indicate(Array(whole[..<length])) }
        server.indicate([0x1B])
        server.indicate([0x1B, 1])
        server.indicate([0x1B, 1, 0] + [UInt8](repeating: 1, count: 60))
        #expect(values == 0)
        server.indicate(whole)
        #expect(values == 2)
        #expect(server.requests.isEmpty)
    }

    @Test("AB-A08: discovery of a server with more than 512 services ends at a limit")
    func fiveHundredAndTwelveServices() {
        let server = ScriptedServer { request in
            let start = UInt16(request[1]) | UInt16(request[2]) << 8
            let entries = (0..<3).flatMap { (index: UInt16) -> [UInt8] in
                let handle = start + index
                let octets = [UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)]
                return octets + octets + [0, 0x18]
            }
            return start > 512 ? [0x01, 0x10, 0, 0, 0x0A] : [0x11, 6] + entries
        }
        server.client.cache = AttributeCache()
        #expect(
            server.failure { server.client.discoverServices(completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumServices))
        )
        #expect(server.requests.count == 86)
        #expect(server.client.cache?.services == nil)
    }
}

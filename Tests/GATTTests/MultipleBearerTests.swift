import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

/// A client with the fixed channel (4) and enhanced bearers (0x40, 0x41).
@Suite struct MultipleBearerServerTests {
    let client: BareClient
    var app: RecordingApp { client.fixture.app }

    init() throws {
        client = try ServerFixture().bareClient()
        client.addBearer(on: 0x40)
        client.addBearer(on: 0x41)
    }

    private func prepare(_ offset: UInt8, _ value: [UInt8], on channel: UInt16) {
        #expect(client.exchange([0x16, 28, 0, offset, 0] + value, on: channel) == [0x17, 28, 0, offset, 0] + value)
    }

    @Test("GATT/SR/GAC/BI-01, AB-A04: an enhanced bearer exchanges no MTU")
    func anEnhancedBearerExchangesNoMTU() {
        for mtu: UInt8 in [0, 22, 64, 255] {
            #expect(client.exchange([0x02, mtu, mtu], on: 0x40) == client.error(0x02, 0, .requestNotSupported))
        }
        #expect(client.session.bearers.map(\.mtu) == [23, 64, 64])
        client.agree(100)
        #expect(client.session.bearers.map(\.mtu) == [100, 64, 64])
    }

    @Test func aReconfiguredChannelOnlyGrows() {
        let bearer = client.session.bearers[1]
        bearer.channelMTUChanged(to: 63)
        #expect(bearer.mtu == 64)
        bearer.channelMTUChanged(to: 200)
        #expect(bearer.mtu == 200)
        client.session.bearer.channelMTUChanged(to: 200)
        #expect(client.session.bearer.mtu == 23)
    }

    @Test func eachBearerHasItsOwnMTU() {
        let value = (0..<100).map { UInt8($0) }
        app.values[28] = value
        #expect(client.exchange([0x0A, 28, 0]) == [0x0B] + value.prefix(22))
        #expect(client.exchange([0x0A, 28, 0], on: 0x40) == [0x0B] + value.prefix(63))
    }

    @Test func eachBearerHasItsOwnOrder() {
        app.isSlow = true
        #expect(client.exchange([0x0A, 28, 0]).isEmpty)
        #expect(client.exchange([0x0A, 14, 0]).isEmpty)
        #expect(client.exchange([0x0A, 14, 0], on: 0x40) == [0x0B, 0x64])
        app.answer(app.reads[0])
        #expect(client.sent() == [[0x0B], [0x0B, 0x64]])
    }

    @Test("GATT/SR/GPM/BV-05: a client's configuration applies to all its bearers")
    func configurationsBelongToTheClient() {
        #expect(client.exchange([0x12, 24, 0, 0, 0]) == [0x13])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, 0, 0])
        #expect(client.exchange([0x12, 24, 0, 1, 0], on: 0x40) == [0x13])
        #expect(client.exchange([0x0A, 24, 0], on: 0x40) == [0x0B, 1, 0])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, 1, 0])
        #expect(client.exchange([0x12, 11, 0, 2], on: 0x41) == [0x13])
        #expect(client.exchange([0x0A, 11, 0]) == [0x0B, 2])
    }

    @Test("GATT/SR/GAW/BV-12: writes prepared on several bearers are executed from one")
    func preparedOnSeveralBearersExecutedOnOne() {
        prepare(0, [1, 2], on: 4)
        prepare(2, [3, 4], on: 0x40)
        prepare(4, [5], on: 0x41)
        #expect(client.exchange([0x18, 1], on: 0x40) == [0x19])
        #expect(app.values[28] == [1, 2, 3, 4, 5])
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.writes.count == 1)
    }

    @Test("GATT/SR/GAW/BV-13: writes prepared on several bearers are cancelled from one")
    func preparedOnSeveralBearersCancelledOnOne() {
        app.values[28] = [9]
        prepare(0, [1, 2], on: 0x40)
        prepare(2, [3], on: 0x41)
        #expect(client.exchange([0x18, 0], on: 4) == [0x19])
        for channel: UInt16 in [4, 0x40, 0x41] { #expect(client.exchange([0x18, 1], on: channel) == [0x19]) }
        #expect(app.writes.isEmpty)
        #expect(app.values[28] == [9])
    }

    @Test("GATT/SR/GAW/BV-14: writes prepared on a bearer that closes are still executed")
    func preparedOnABearerThatCloses() {
        prepare(0, [1, 2], on: 0x40)
        prepare(2, [3], on: 0x41)
        let closing = client.session.bearers[2]
        closing.close()
        client.session.remove(closing)
        prepare(3, [4], on: 0x40)
        #expect(client.exchange([0x18, 1], on: 0x40) == [0x19])
        #expect(app.values[28] == [1, 2, 3, 4])
    }

    @Test func preparedWritesEndWithTheLastBearer() {
        prepare(0, [1], on: 0x40)
        for bearer in client.session.bearers { client.session.remove(bearer) }
        #expect(client.session.isClosed)
        client.session.add(client.session.bearer)
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.writes.isEmpty)
    }

    @Test("GATT/SR/GAW/BI-38: signed writes on an enhanced bearer are ignored")
    func signedWritesOnAnEnhancedBearer() {
        app.values[28] = [9]
        #expect(client.exchange([0xD2, 28, 0, 1] + [UInt8](repeating: 0, count: 12), on: 0x40).isEmpty)
        #expect(client.exchange([0x0A, 28, 0], on: 0x40) == [0x0B, 9])
        #expect(app.writes.isEmpty)
    }

    @Test("GATT/SR/GAR/BV-11, GATT/SR/GAR/BV-12: values are read on several bearers at once")
    func readsOnSeveralBearers() {
        let value = (0..<150).map { UInt8($0) }
        app.values[28] = value
        app.isSlow = true
        // A long value by blobs spread over the bearers, and several values at once, all before any answer.
        #expect(client.exchange([0x0A, 28, 0], on: 0x40).isEmpty)
        #expect(client.exchange([0x0C, 28, 0, 63, 0], on: 0x41).isEmpty)
        #expect(client.exchange([0x20, 14, 0, 28, 0], on: 4).isEmpty)
        #expect(client.exchange([0x0E, 14, 0, 14, 0], on: 0x41).isEmpty)
        for request in app.reads { app.answer(request) }
        client.fixture.loop.run(for: .zero)
        let sent = client.link.sent.map(\.bytes)
        #expect(sent.contains([64, 0, 0x40, 0, 0x0B] + value[..<63]))
        #expect(sent.contains([64, 0, 0x41, 0, 0x0D] + value[63..<126]))
        #expect(sent.contains([23, 0, 4, 0, 0x21, 1, 0, 0x64, 150, 0] + value[..<17]))
        #expect(sent.contains([3, 0, 0x41, 0, 0x0F, 0x64, 0x64]))
    }

    @Test func valuesGoOverTheFirstBearerThatIsOpen() {
        client.exchange([0x12, 24, 0, 3, 0], on: 0x41)
        #expect(client.fixture.server.update([1], of: 23))
        #expect(client.sent() == [[0x1B, 23, 0, 1]])
        client.session.bearer.close()
        #expect(client.fixture.server.update([2], of: 23))
        #expect(client.sent(on: 0x40) == [[0x1B, 23, 0, 2]])
    }

    @Test func theBearersOfAClientAreBounded() {
        let session = client.session
        for _ in session.bearers.count..<16 { #expect(session.add(session.bearer)) }
        #expect(!session.add(session.bearer))
        #expect(session.bearers.count == 16)
    }
}

@Suite struct MultipleBearerClientTests {
    let peer: ConnectedClient

    init() throws {
        peer = try ServerFixture().client(mtu: 23)
        peer.addBearer(on: 0x40, mtu: 64)
        peer.addBearer(on: 0x41, mtu: 64)
    }

    /// The channels on which the client's PDUs went, with their opcodes.
    private func sent() -> [[UInt8]] {
        defer { _ = peer.link.takeSent(on: 4) }
        return peer.link.sent.map { [$0[2], $0[4]] }
    }

    @Test("GATT/CL/GAR/BV-10, GATT/CL/GAR/BV-11: the client spreads its reads over the bearers")
    func readsSpreadOverTheBearers() {
        peer.fixture.app.isSlow = true
        peer.fixture.app.values = [28: [1], 29: [2]]
        var values: [[UInt8]] = []
        _ = sent()
        peer.client.read(28) { if case .success(let value) = $0 { values.append(value.bytes) } }
        peer.client.read(29) { if case .success(let value) = $0 { values.append(value.bytes) } }
        peer.client.readMultipleVariable([14, 14]) { result in
            if case .success(let several) = result { values += several.map(\.bytes) }
        }
        peer.client.read(14) { if case .success(let value) = $0 { values.append(value.bytes) } }
        #expect(sent() == [[4, 0x0A], [0x40, 0x0A], [0x41, 0x20]])
        peer.fixture.loop.run(for: .seconds(1))
        // The fourth waited for the first bearer to become free.
        #expect(sent() == [[0x41, 0x0A]])
        #expect(values == [[0x64], [0x64], [0x64]])
        for request in peer.fixture.app.reads.reversed() { peer.fixture.app.answer(request) }
        peer.fixture.loop.run(for: .seconds(1))
        #expect(values.suffix(2) == [[2], [1]])
    }

    @Test func longWritesDoNotMixTheirParts() throws {
        var done = 0
        for byte: UInt8 in [1, 2, 3] {
            let value = PacketBuffer([UInt8](repeating: byte, count: 200))
            peer.client.write(value, to: byte == 2 ? 29 : 28) { if case .success = $0 { done += 1 } }
        }
        peer.fixture.loop.run(for: .seconds(1))
        #expect(done == 3)
        let writes = peer.fixture.app.writes.map { $0.writes.flatMap { Array($0.value) } }
        #expect(writes == [1, 2, 3].map { [UInt8](repeating: $0, count: 200) })
    }

    @Test func aBearerThatClosesTakesOnlyItsOwnProcedureWithIt() throws {
        peer.fixture.app.isSlow = true
        var results: [String] = []
        for handle: UInt16 in [28, 28, 28] {
            peer.client.read(handle) { results.append((try? $0.get()) == nil ? "failed" : "read") }
        }
        peer.fixture.loop.run(for: .zero)
        let closing = peer.client.bearers[1]
        closing.close()
        peer.client.remove(closing)
        #expect(results == ["failed"])
        for request in peer.fixture.app.reads { peer.fixture.app.answer(request) }
        peer.fixture.loop.run(for: .seconds(1))
        #expect(results == ["failed", "read", "read"])
        peer.fixture.app.isSlow = false
        #expect(try peer.wait { peer.client.read(14, completion: $0) } == [0x64])
    }

    @Test func exchangingTheMTUOfAnEnhancedBearerSendsNothing() {
        _ = sent()
        var mtu: Int?
        peer.client.bearers[1].exchangeMTU { mtu = try? $0.get() }
        #expect(mtu == 64)
        #expect(sent().isEmpty)
    }
}

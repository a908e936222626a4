import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

@testable import L2CAP

/// This package's client and server with enhanced bearers on real credit-based channels.
@Suite struct EnhancedBearerGATTTests {
    let fixture: ServerFixture
    let links: (LoopbackLink, LoopbackLink)
    let central: L2CAPConnection
    let peripheral: L2CAPConnection
    let enhanced: (EnhancedBearers, EnhancedBearers)
    let client: GATTClient
    let session: GATTServerSession
    private let listener: EnhancedBearerListener

    init() throws {
        fixture = try ServerFixture()
        let loop = fixture.loop
        links = LoopbackLink.pair(loop: loop)
        let servers = ChannelServers()
        listener = try EnhancedBearerListener(servers: servers)
        central = L2CAPConnection(link: links.0, role: .central, loop: loop)
        peripheral = L2CAPConnection(link: links.1, role: .peripheral, loop: loop, servers: servers)
        for connection in [central, peripheral] { connection.linkSecurity = LinkSecurity(isEncrypted: true) }
        let ends = [central, peripheral].map {
            ATTBearer(channel: $0.register(.attribute, maximumPayload: 23), loop: loop, preferredMTU: 23)
        }
        client = GATTClient(bearer: ends[0])
        session = fixture.server.attach(ends[1])
        enhanced = (
            EnhancedBearers(connection: central, loop: loop),
            EnhancedBearers(connection: peripheral, loop: loop, listener: listener)
        )
        enhanced.0.serve(client: client, session: nil)
        enhanced.1.serve(client: nil, session: session)
        var outcomes: [ChannelOpenError?] = []
        enhanced.0.open(3) { outcomes.append($0) }
        loop.run(for: .zero)
        #expect(outcomes == [nil])
    }

    @Test func readsUseEveryBearer() {
        fixture.app.isSlow = true
        fixture.app.values = [28: [1], 29: [2]]
        var values: [[UInt8]] = []
        _ = links.0.takeSent()
        for handle in [28, 29, 14, 14] as [UInt16] {
            client.read(handle) { if case .success(let value) = $0 { values.append(value.bytes) } }
        }
        fixture.loop.run(for: .zero)
        let channels = links.0.takeSent().map(\.channel)
        #expect(Set(channels.filter { $0 != 5 }).count == 4)
        for request in fixture.app.reads.reversed() { fixture.app.answer(request) }
        fixture.loop.run(for: .seconds(1))
        #expect(values == [[0x64], [0x64], [2], [1]])
    }

    @Test func valuesOfFullLengthGoThroughAChannelInSeveralFrames() throws {
        let value = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        fixture.app.values[28] = value
        // The first one goes over the fixed channel, the others over enhanced bearers.
        var values: [[UInt8]] = []
        for _ in 0..<4 { client.read(28) { if case .success(let value) = $0 { values.append(value.bytes) } } }
        fixture.loop.run(for: .seconds(1))
        #expect(values == Array(repeating: value, count: 4))
        var isWritten = 0
        for _ in 0..<4 {
            client.write(PacketBuffer(Array(value.reversed())), to: 28) { if case .success = $0 { isWritten += 1 } }
        }
        fixture.loop.run(for: .seconds(1))
        #expect(isWritten == 4 && fixture.app.values[28] == value.reversed())
    }

    @Test("a channel that closes does not affect the others, and its pending reads move to the first bearer")
    func aChannelThatEndsLeavesTheOthers() throws {
        fixture.app.isSlow = true
        var results: [Bool] = []
        for _ in 0..<4 {
            client.read(28) { if case .success = $0 { results.append(true) } else { results.append(false) } }
        }
        fixture.loop.run(for: .zero)
        peripheral.creditBasedChannels.first?.disconnect()
        fixture.loop.run(for: .zero)
        #expect(results.isEmpty)
        #expect(session.bearers.count == 3)
        #expect(client.bearers.count == 3)
        let reads = fixture.app.reads
        #expect(reads.count == 4)
        for request in reads { fixture.app.answer(request) }
        fixture.loop.run(for: .seconds(1))
        // The request that waited for the first bearer has reached the server by now.
        #expect(results == [true, true, true])
        #expect(fixture.app.reads.count == 5)
        for request in fixture.app.reads { fixture.app.answer(request) }
        fixture.loop.run(for: .seconds(1))
        #expect(results == [true, true, true, true])
        // A second loss is final: the bearer ends with the link.
        client.read(28) { if case .success = $0 { results.append(true) } else { results.append(false) } }
        central.close()
        peripheral.close()
        #expect(results == [true, true, true, true, false])
        #expect(session.isClosed)
        #expect(enhanced.0.bearers.isEmpty)
        #expect(enhanced.1.bearers.isEmpty)
    }
}

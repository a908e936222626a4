import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import ATT
@testable import L2CAP

/// One end of a link with enhanced bearers.
final class EnhancedEnd {
    let link: LoopbackLink
    let connection: L2CAPConnection
    let listener: EnhancedBearerListener
    let enhanced: EnhancedBearers
    var outcomes: [ChannelOpenError?] = []
    var opened: [ATTBearer] = []
    var closures: [ATTBearerClosure] = []
    private let servers = ChannelServers()

    init(_ link: LoopbackLink, _ role: L2CAPRole, loop: VirtualEventLoop, isEncrypted: Bool) throws {
        self.link = link
        connection = L2CAPConnection(link: link, role: role, loop: loop, servers: servers)
        connection.linkSecurity = LinkSecurity(isEncrypted: isEncrypted)
        listener = try EnhancedBearerListener(servers: servers)
        enhanced = EnhancedBearers(connection: connection, loop: loop, listener: listener)
        enhanced.onOpen = { [weak self] in self?.opened.append($0) }
        enhanced.onClose = { [weak self] in self?.closures.append($1) }
    }

    func open(_ count: Int) {
        enhanced.open(count) { [weak self] in self?.outcomes.append($0) }
    }

    /// The codes of the signalling commands sent so far.
    func takeSignals() -> [UInt8] { link.takeSent(on: 5).map { $0[0] } }
}

/// Two such ends of one link.
final class EnhancedPair {
    let loop = VirtualEventLoop()
    let central: EnhancedEnd
    let peripheral: EnhancedEnd

    init(isEncrypted: Bool = true) throws {
        let (near, far) = LoopbackLink.pair(loop: loop)
        central = try EnhancedEnd(near, .central, loop: loop, isEncrypted: isEncrypted)
        peripheral = try EnhancedEnd(far, .peripheral, loop: loop, isEncrypted: isEncrypted)
        loop.run(for: .zero)
    }
}

@Suite struct EnhancedBearerTests {
    @Test(arguments: [1, 3, 5, 9])
    func bearersAreOpenedTogether(count: Int) throws {
        let pair = try EnhancedPair()
        pair.central.open(count)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes == [nil])
        #expect(pair.central.takeSignals() == [0x17])
        for end in [pair.central, pair.peripheral] {
            #expect(end.enhanced.bearers.count == min(count, 5))
            #expect(end.opened.count == min(count, 5))
            #expect(end.opened.allSatisfy { $0.isEnhanced && $0.mtu == 517 })
        }
        pair.central.open(count)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes == [nil, nil])
        #expect(pair.central.takeSignals().isEmpty)
    }

    @Test("L2CAP/TIM/BV-03: both sides open enhanced bearers at once and end with one set")
    func bothOpenAtOnce() throws {
        let pair = try EnhancedPair()
        pair.central.open(5)
        pair.peripheral.open(5)
        pair.loop.run(for: .zero)
        // Both ends have refused; the central has asked again immediately, and has its bearers.
        #expect(pair.central.outcomes == [nil])
        #expect(pair.peripheral.outcomes.isEmpty)
        #expect(pair.central.takeSignals() == [0x17, 0x18, 0x17])
        #expect(pair.peripheral.takeSignals() == [0x17, 0x18, 0x18])
        pair.loop.run(for: .milliseconds(99))
        #expect(pair.peripheral.outcomes.isEmpty)
        pair.loop.run(for: .milliseconds(1))
        #expect(pair.peripheral.outcomes == [nil])
        #expect(pair.peripheral.takeSignals().isEmpty, "the central's bearers are enough")
        for end in [pair.central, pair.peripheral] { #expect(end.enhanced.bearers.count == 5) }
    }

    @Test(
        "L2CAP/TIM/BV-03: a refused peripheral waits longer on a slow link before it asks again",
        arguments: [(30, 0, 100), (30, 1, 120), (1000, 2, 6000)]
    )
    func thePeripheralWaitsLongerOnASlowLink(interval: Int, latency: Int, delay: Int) throws {
        let pair = try EnhancedPair()
        // A central that refuses once and opens nothing.
        pair.peripheral.enhanced.linkTiming(interval: .milliseconds(interval), latency: latency)
        pair.peripheral.open(2)
        let request = try #require(pair.peripheral.link.takeSent(on: 5).first)
        pair.central.connection.close()
        pair.central.link.inject([0x18, request[1], 12, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0], on: 5)
        pair.loop.run(for: .milliseconds(delay - 1))
        #expect(pair.peripheral.link.sent.isEmpty)
        pair.loop.run(for: .milliseconds(1))
        #expect(pair.peripheral.takeSignals() == [0x17])
        #expect(pair.peripheral.outcomes.isEmpty)
    }

    @Test(arguments: [L2CAPRole.central, .peripheral])
    func aPeerWithoutRoomIsAskedThreeTimes(role: L2CAPRole) throws {
        let pair = try EnhancedPair()
        let end = role == .central ? pair.central : pair.peripheral
        let other = role == .central ? pair.peripheral : pair.central
        other.connection.close()
        end.open(1)
        for _ in 0..<3 {
            let request = try #require(end.link.takeSent(on: 5).first)
            other.link.inject([0x18, request[1], 10, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0], on: 5)
            pair.loop.run(for: .milliseconds(100))
        }
        #expect(end.link.sent.isEmpty)
        #expect(end.outcomes == [.refused(.insufficientResources)])
        end.open(1)
        #expect(end.takeSignals() == [0x17])
    }

    @Test func withoutEncryptionThereAreNone() throws {
        let pair = try EnhancedPair(isEncrypted: false)
        pair.central.open(1)
        #expect(pair.central.outcomes == [.notAllowed])
        #expect(pair.central.link.sent.isEmpty)
        // Only one end considers the link encrypted.
        pair.central.connection.linkSecurity = LinkSecurity(isEncrypted: true)
        pair.central.open(1)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes.last == .refused(.insufficientEncryption))
        pair.peripheral.connection.linkSecurity = LinkSecurity()
        pair.central.open(1)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes.last == .refused(.insufficientAuthentication))
        #expect(pair.peripheral.opened.isEmpty)
    }

    @Test func thereAreNoneInTheOtherMode() throws {
        let pair = try EnhancedPair()
        var refusals: [ChannelOpenError] = []
        pair.central.connection.openChannel(on: .enhancedAttribute, parameters: EnhancedBearers.parameters) { result in
            if case .failure(let error) = result { refusals.append(error) }
        }
        pair.loop.run(for: .zero)
        #expect(refusals == [.refused(.spsmNotSupported)])
        #expect(pair.peripheral.opened.isEmpty)
    }

    @Test func anOldPeerHasNone() throws {
        let pair = try EnhancedPair()
        pair.peripheral.connection.close()
        pair.central.open(1)
        let request = try #require(pair.central.link.takeSent(on: 5).first)
        pair.peripheral.link.inject([0x01, request[1], 2, 0, 0, 0], on: 5)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes == [.notUnderstood])
    }

    @Test("GATT/SR/GAC/BI-01, GATT/SR/GAW/BI-38: an enhanced bearer accepts neither an MTU exchange nor signed writes")
    func enhancedBearersRejectMTUExchangeAndSignedWrites() throws {
        let pair = try EnhancedPair()
        pair.central.open(1)
        pair.loop.run(for: .zero)
        let channel = try #require(pair.central.connection.creditBasedChannels.first)
        var answers: [[UInt8]] = []
        var commands = 0
        channel.onReceive = { payload, _ in answers.append(payload.bytes) }
        let server = try #require(pair.peripheral.opened.first)
        server.onCommand = { _, _ in commands += 1 }
        try channel.offer([0x02, 100, 0])
        try channel.offer(PacketBuffer([0xD2, 3, 0, 1] + [UInt8](repeating: 0, count: 12)))
        pair.loop.run(for: .zero)
        #expect(answers == [[0x01, 0x02, 0, 0, 0x06]])
        #expect(commands == 0)
        #expect(server.mtu == 517)
        try channel.offer([0x52, 3, 0, 1])
        pair.loop.run(for: .zero)
        #expect(commands == 1)
    }

    @Test func theMTUIsThatOfTheChannel() throws {
        let pair = try EnhancedPair()
        // A peer whose MTU is 64 octets at first, and 80 later.
        var channels: [L2CAPCreditBasedChannel] = []
        pair.central.connection.openEnhancedChannels(
            1,
            on: .enhancedAttribute,
            parameters: ChannelParameters(mtu: 64, mps: 64, window: 4)
        ) { channels += (try? $0.get().channels) ?? [] }
        pair.loop.run(for: .zero)
        let bearer = try #require(pair.peripheral.opened.first)
        #expect(bearer.mtu == 64)
        pair.central.connection.reconfigure(channels, mtu: 80, mps: 64) { _ in }
        pair.loop.run(for: .zero)
        #expect(bearer.mtu == 80)
    }

    @Test func aBearerThatIsClosedTakesItsChannelWithIt() throws {
        let pair = try EnhancedPair()
        pair.central.open(3)
        pair.loop.run(for: .zero)
        // Closed locally, because of a peer that does not answer, and by the peer.
        pair.central.opened[0].close()
        var failures: [ATTBearerError] = []
        pair.peripheral.opened[1].onRequest = { _, _ in }
        pair.central.opened[1].request(.readRequest(ATTReadRequest(handle: 1))) { result, _ in
            if case .failure(let error) = result { failures.append(error) }
        }
        pair.loop.run(for: .seconds(30))
        #expect(failures == [.closed(.requestTimeout)])
        #expect(pair.central.closures == [.requestTimeout])
        pair.peripheral.opened[2].close()
        pair.loop.run(for: .seconds(1))
        for end in [pair.central, pair.peripheral] {
            #expect(end.enhanced.bearers.isEmpty)
            #expect(end.connection.creditBasedChannels.isEmpty)
        }
        #expect(pair.central.closures == [.requestTimeout, .linkLost])
        pair.central.open(5)
        pair.loop.run(for: .zero)
        #expect(pair.central.enhanced.bearers.count == 5)
    }

    @Test func channelsAcceptedAfterClosingAreDisconnected() throws {
        let pair = try EnhancedPair()
        pair.central.open(2)
        pair.central.enhanced.close()
        #expect(pair.central.outcomes == [.closed])
        pair.loop.run(for: .seconds(1))
        #expect(pair.central.opened.isEmpty)
        #expect(pair.central.connection.creditBasedChannels.isEmpty)
        #expect(pair.peripheral.enhanced.bearers.isEmpty)
        pair.central.open(1)
        #expect(pair.central.outcomes == [.closed, .closed])
    }

    @Test func theEndOfTheLinkAndOfTheService() throws {
        let pair = try EnhancedPair()
        pair.central.open(2)
        pair.loop.run(for: .zero)
        pair.peripheral.enhanced.close()
        pair.loop.run(for: .zero)
        #expect(pair.central.closures == [.linkLost, .linkLost])
        pair.central.open(1)
        pair.loop.run(for: .zero)
        #expect(pair.central.outcomes == [nil, .refused(.insufficientAuthorization)])
        pair.central.open(1)
        pair.central.connection.close()
        #expect(pair.central.outcomes.last == .closed)
    }
}

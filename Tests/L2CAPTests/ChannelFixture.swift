import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// Two octets, least significant first.
func le(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)] }

/// Octets that identify their positions.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

/// An end with credit-based channels under test; the other end is a bare link.
final class ChannelFixture {
    static let spsm = 0x0080
    static let parameters = ChannelParameters(mtu: 200, mps: 70, window: 4)

    let loop = VirtualEventLoop()
    let link: LoopbackLink
    let peer: LoopbackLink
    let servers = ChannelServers()
    let server: ChannelServer
    let connection: L2CAPConnection
    var incoming: [L2CAPCreditBasedChannel] = []
    var received: [[UInt8]] = []
    var closures: [ChannelClosure?] = []
    var discards: [L2CAPDiscard] = []
    private var identifier: UInt8 = 100

    init(
        role: L2CAPRole = .peripheral,
        parameters: ChannelParameters = ChannelFixture.parameters,
        requirement: SecurityLevel = SecurityLevel.none
    ) throws {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: role, loop: loop, servers: servers)
        server = try servers.listen(
            on: SPSM(rawValue: UInt16(Self.spsm)),
            parameters: parameters,
            requirement: requirement
        )
        server.onOpen = { [weak self] in self?.watch($0, isIncoming: true) }
        connection.onDiscard = { [weak self] in self?.discards.append($0) }
        loop.run(for: .zero)
    }

    private func watch(_ channel: L2CAPCreditBasedChannel, isIncoming: Bool) {
        if isIncoming { incoming.append(channel) }
        channel.onReceive = { [weak self] sdu, _ in self?.received.append(sdu.bytes) }
        channel.onClose = { [weak self, weak channel] in self?.closures.append(channel?.closure) }
    }

    /// Sends a signalling command to the end under test, and returns its answers.
    @discardableResult
    func signal(_ code: UInt8, _ identifier: UInt8, _ fields: [UInt8]) -> [[UInt8]] {
        peer.inject([code, identifier] + le(fields.count) + fields, on: 5)
        loop.run(for: .zero)
        return link.takeSent(on: 5)
    }

    /// Sends a frame to the end under test, and returns its signalling commands.
    @discardableResult
    func frame(_ payload: [UInt8], on channel: L2CAPCreditBasedChannel) -> [[UInt8]] {
        peer.inject(payload, on: channel.identifier.rawValue)
        loop.run(for: .zero)
        return link.takeSent(on: 5)
    }

    /// The frames that the end under test has sent to the peer's channel.
    func sentFrames(to channel: UInt16 = 0x40) -> [[UInt8]] {
        loop.run(for: .zero)
        return link.takeSent(on: channel)
    }

    // MARK: Requests of the peer

    /// Requests channels as the peer, and returns the fields of the response after checking its code and identifier.
    func request(
        _ mode: ChannelMode,
        spsm: Int = ChannelFixture.spsm,
        mtu: Int = 100,
        mps: Int = 64,
        credits: Int = 10,
        sources: [Int] = [0x40]
    ) throws -> [UInt8] {
        identifier += 1
        let numbers = sources.flatMap { le($0) }
        let sizes = le(mtu) + le(mps) + le(credits)
        let answers =
            mode == .creditBased
            ? signal(0x14, identifier, le(spsm) + numbers + sizes)
            : signal(0x17, identifier, le(spsm) + sizes + numbers)
        try #require(answers.count == 1)
        let answer = answers[0]
        #expect(answer[..<2] == [mode == .creditBased ? 0x15 : 0x18, identifier])
        #expect(le(answer.count - 4) == Array(answer[2..<4]))
        return Array(answer[4...])
    }

    /// Requests channels as the peer, and returns the result and the channels of the response.
    func result(
        _ mode: ChannelMode,
        spsm: Int = ChannelFixture.spsm,
        mtu: Int = 100,
        mps: Int = 64,
        credits: Int = 10,
        sources: [Int] = [0x40]
    ) throws -> (result: Int, channels: [Int]) {
        let fields = try request(mode, spsm: spsm, mtu: mtu, mps: mps, credits: credits, sources: sources)
        let words = stride(from: 0, to: fields.count, by: 2).map { Int(fields[$0]) | Int(fields[$0 + 1]) << 8 }
        return mode == .creditBased ? (words[4], [words[0]]) : (words[3], Array(words[4...]))
    }

    /// Opens a channel as the peer.
    func accept(_ mode: ChannelMode, credits: Int = 10, source: Int = 0x40) throws -> L2CAPCreditBasedChannel {
        let (result, channels) = try result(mode, credits: credits, sources: [source])
        let channel = try #require(incoming.last)
        #expect(result == 0)
        #expect(channels == [Int(channel.identifier.rawValue)])
        return channel
    }

    // MARK: Requests of this end

    /// Requests channels from this end, and returns the request and its later outcome.
    func ask(_ mode: ChannelMode, count: Int = 1, spsm: Int = ChannelFixture.spsm) throws -> OpenAttempt {
        let attempt = start(mode, count: count, spsm: spsm)
        try #require(!attempt.request.isEmpty)
        return attempt
    }

    /// The same, but with an empty request if none was sent.
    func start(_ mode: ChannelMode, count: Int = 1, spsm: Int = ChannelFixture.spsm) -> OpenAttempt {
        let attempt = OpenAttempt()
        let spsm = SPSM(rawValue: UInt16(spsm))
        switch mode {
        case .creditBased:
            connection.openChannel(on: spsm, parameters: Self.parameters) { [weak self] result in
                attempt.finish(result.map { .init(channels: [$0], refusal: nil) })
                if let channel = try? result.get() { self?.watch(channel, isIncoming: false) }
            }
        case .enhanced:
            connection.openEnhancedChannels(count, on: spsm, parameters: Self.parameters) { [weak self] result in
                attempt.finish(result)
                for channel in (try? result.get().channels) ?? [] { self?.watch(channel, isIncoming: false) }
            }
        }
        attempt.mode = mode
        attempt.request = link.takeSent(on: 5).first ?? []
        return attempt
    }

    /// Answers as the peer.
    @discardableResult
    func answer(
        _ attempt: OpenAttempt,
        result: Int = 0,
        destinations: [Int] = [0x50],
        mtu: Int = 100,
        mps: Int = 64,
        credits: Int = 10
    ) -> [[UInt8]] {
        let numbers = destinations.flatMap { le($0) }
        let sizes = le(mtu) + le(mps) + le(credits)
        return attempt.mode == .creditBased
            ? signal(0x15, attempt.identifier, numbers + sizes + le(result))
            : signal(0x18, attempt.identifier, sizes + le(result) + numbers)
    }

    /// Opens a channel from this end to the peer's channel 0x0050.
    func open(_ mode: ChannelMode, destination: Int = 0x50) throws -> L2CAPCreditBasedChannel {
        let attempt = try ask(mode)
        answer(attempt, destinations: [destination])
        return try #require(attempt.channels.first)
    }
}

/// A request for channels and its outcome.
final class OpenAttempt {
    var mode = ChannelMode.creditBased
    var request: [UInt8] = []
    private(set) var channels: [L2CAPCreditBasedChannel] = []
    private(set) var refusal: ChannelResult?
    private(set) var error: ChannelOpenError?
    private(set) var outcomes = 0

    var identifier: UInt8 { request[1] }
    /// The source channels in the request.
    var sources: [Int] {
        let octets = mode == .creditBased ? Array(request[6..<8]) : Array(request[12...])
        return stride(from: 0, to: octets.count, by: 2).map { Int(octets[$0]) | Int(octets[$0 + 1]) << 8 }
    }

    func finish(_ result: Result<L2CAPConnection.EnhancedChannels, ChannelOpenError>) {
        outcomes += 1
        switch result {
        case .success(let opened): (channels, refusal) = (opened.channels, opened.refusal)
        case .failure(let failure): error = failure
        }
    }
}

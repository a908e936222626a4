import BluetoothTypes
import EventLoops
import L2CAP
import LoopbackLinks

extension FuzzTarget {
    /// Credit-based channels, opened from both ends, with a peer that violates every rule.
    static let creditChannels = FuzzTarget(
        "credit-channels",
        maximumLength: 2_048,
        seeds: CreditChannelsScene.seeds
    ) { input in
        var input = input
        let scene = CreditChannelsScene()
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }
}

private final class CreditChannelsScene {
    static let mtu = 200

    private let loop = VirtualEventLoop()
    private let link: LoopbackLink
    private let peer: LoopbackLink
    private let servers = ChannelServers()
    private let connection: L2CAPConnection
    private var channels: [L2CAPCreditBasedChannel] = []
    private var opened = 0
    private var closed = 0
    private var asked = 0
    private var answered = 0
    private var sent = 0

    init() {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: .central, loop: loop, servers: servers)
        for number in [0x27, 0x80] as [UInt16] {
            let parameters = ChannelParameters(mtu: Self.mtu, mps: 64, window: 4)
            let server = try? servers.listen(on: SPSM(rawValue: number), parameters: parameters)
            hold(server != nil, "listening fails")
            server?.onOpen = { [unowned self] in add($0) }
        }
        loop.run(for: .zero)
    }

    private func add(_ channel: L2CAPCreditBasedChannel) {
        opened += 1
        channels.append(channel)
        channel.onReceive = { sdu, _ in hold(sdu.count <= Self.mtu + 100, "an SDU of \(sdu.count) octets") }
        channel.onClose = { [unowned self] in
            closed += 1
            channels.removeAll { $0 === channel }
        }
        hold(channels.count <= L2CAPConnection.maximumDynamicChannels, "\(channels.count) channels")
        hold(Set(channels.map(\.identifier)).count == channels.count, "two channels have one number")
    }

    func take(_ input: inout FuzzInput) {
        let kind = input.octet()
        switch kind & 0b1111 {
        case 0...4: receive(input.counted(), on: .signalling)
        case 5...7:
            let octets = input.counted()
            guard let channel = pick(kind) else { break }
            receive(octets, on: channel.identifier)
        case 8: open(kind)
        case 9: try? pick(kind)?.offer(PacketBuffer([UInt8](repeating: kind, count: Int(input.octet()) * 2)))
        case 10: pick(kind)?.isPaused.toggle()
        case 11: pick(kind)?.disconnect()
        case 12: reconfigure(kind, input.octet())
        case 13: link.isHeld.toggle()
        case 14: link.release(Int(kind >> 4))
        default: loop.run(for: .seconds(Int(kind >> 4)))
        }
        loop.run(for: .zero)
        for channel in channels {
            hold(channel.queuedPDUs <= L2CAPCreditBasedChannel.maximumQueuedSDUs, "too many SDUs are queued")
            hold(channel.closure == nil, "a closed channel did not report its end")
        }
        hold(link.queuedPDUs <= 4_096, "\(link.queuedPDUs) PDUs are queued")
        sent += link.takeSent(on: 5).count
        hold(sent <= 8_192, "the signalling channel is flooded")
    }

    private func pick(_ kind: UInt8) -> L2CAPCreditBasedChannel? {
        channels.isEmpty ? nil : channels[Int(kind >> 4) % channels.count]
    }

    private func receive(_ payload: [UInt8], on channel: ChannelIdentifier) {
        var pdu = PacketBuffer(copying: payload)
        pdu.prepend(integer: channel.rawValue)
        pdu.prepend(integer: UInt16(payload.count))
        link.onReceive?(pdu, true)
    }

    private func open(_ kind: UInt8) {
        asked += 1
        let parameters = ChannelParameters(mtu: Self.mtu, mps: 64, window: 4)
        let spsm = SPSM(rawValue: 0x81)
        if kind & 0x80 == 0 {
            connection.openChannel(on: spsm, parameters: parameters) { [unowned self] result in
                answered += 1
                if case .success(let channel) = result { add(channel) }
            }
        } else {
            connection.openEnhancedChannels(Int(kind >> 4 & 7), on: spsm, parameters: parameters) { [unowned self] in
                answered += 1
                if case .success(let channels) = $0 { for channel in channels.channels { add(channel) } }
            }
        }
    }

    private func reconfigure(_ kind: UInt8, _ size: UInt8) {
        asked += 1
        let some = channels.prefix(1 + Int(kind >> 4) % 6)
        connection.reconfigure(Array(some), mtu: Self.mtu + Int(size) % 100, mps: 64 + Int(size)) { [unowned self] _ in
            answered += 1
        }
    }

    /// Checks that each request ends once, and each channel too.
    func end() {
        link.isHeld = false
        loop.run(for: .seconds(400))
        hold(answered == asked, "\(asked) requests, \(answered) responses")
        connection.close()
        hold(channels.isEmpty && opened == closed, "\(opened) channels, \(closed) ends")
    }

    static var seeds: [[UInt8]] {
        // The peer opens a channel, sends a whole SDU and one in two frames, grants credits, and closes.
        let opens: [UInt8] = [0x14, 1, 10, 0, 0x80, 0, 0x41, 0, 0xC8, 0, 0x40, 0, 3, 0]
        let enhanced: [UInt8] = [0x17, 2, 12, 0, 0x27, 0, 0xC8, 0, 0x40, 0, 3, 0, 0x42, 0, 0x43, 0]
        let credits: [UInt8] = [0x16, 3, 4, 0, 0x41, 0, 5, 0]
        let reconfigures: [UInt8] = [0x19, 4, 8, 0, 0xF0, 0, 0x50, 0, 0x42, 0, 0x43, 0]
        let closes: [UInt8] = [0x06, 5, 4, 0, 0x40, 0, 0x41, 0]
        let sdu = step(5, [3, 0, 1, 2, 3]) + step(5, [6, 0, 1, 2, 3]) + step(5, [4, 5, 6])
        let served = step(0, opens) + sdu + [9, 100] + step(0, credits) + step(0, closes)
        let many = step(0, enhanced) + sdu + [0x19, 90] + step(0, reconfigures) + [0x0A, 0x0C, 3, 0x0B]
        // This end opens channels; the responses match its first requests.
        let answer: [UInt8] = [0x15, 1, 10, 0, 0x41, 0, 0xC8, 0, 0x40, 0, 3, 0, 0, 0]
        let answers: [UInt8] = [0x18, 1, 12, 0, 0xC8, 0, 0x40, 0, 3, 0, 0, 0, 0x41, 0, 0x42, 0]
        let asks = [8] + step(0, answer) + sdu + [9, 200] + step(0, credits)
        let asksMany = [0xA8] + step(0, answers) + sdu + [9, 200, 0x0C, 7] + step(0, [0x1A, 2, 2, 0, 0, 0])
        return [served, many, asks, asksMany, [8, 0xFF, 0xFF, 0xFF, 0xFF], served + many + asksMany]
    }
}

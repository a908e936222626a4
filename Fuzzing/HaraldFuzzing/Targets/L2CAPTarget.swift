import BluetoothTypes
import EventLoops
import L2CAP
import LoopbackLinks

extension FuzzTarget {
    /// Fragments and time in any order: recombination, the fixed channels and the signalling channel.
    static let l2cap = FuzzTarget("l2cap", maximumLength: 2_048, seeds: L2CAPScene.seeds) { input in
        var input = input
        let scene = L2CAPScene(role: input.octet() & 1 == 0 ? .central : .peripheral)
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }
}

/// L2CAP on a link with arbitrary input.
private final class L2CAPScene {
    static let attributeLimit = 64

    private let loop = VirtualEventLoop()
    private let link: LoopbackLink
    // Keeps the link's other end alive, without a receiver.
    private let peer: LoopbackLink
    private let connection: L2CAPConnection
    private let channel: L2CAPFixedChannel
    private var received: [PacketBuffer] = []
    private var asked = 0
    private var outcomes = 0

    init(role: L2CAPRole) {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: role, loop: loop)
        channel = connection.register(.attribute, maximumPayload: Self.attributeLimit)
        channel.onReceive = { [unowned self] payload, _ in
            hold(payload.count <= Self.attributeLimit, "a payload of \(payload.count) octets")
            received.append(payload)
        }
        channel.onOversized = { beginning, length, _ in
            hold(
                !beginning.isEmpty && length > Self.attributeLimit,
                "\(beginning.count) of \(length) octets are too many"
            )
        }
        loop.run(for: .zero)
    }

    func take(_ input: inout FuzzInput) {
        let kind = input.octet()
        switch kind & 0b111 {
        case 0, 1, 2: link.onReceive?(PacketBuffer(input.counted()), true)
        case 3, 4: link.onReceive?(PacketBuffer(input.counted()), false)
        case 5: loop.run(for: .milliseconds(Int(input.octet()) * 200))
        case 6:
            let (before, payload) = (link.sent.count, input.counted())
            receiveWhole(payload, on: .signalling)
            loop.run(for: .zero)
            hold(link.sent.count - before <= 1, "\(link.sent.count - before) answers to \(PacketBuffer(payload))")
        default: ask(&input)
        }
    }

    private func ask(_ input: inout FuzzInput) {
        let parameters = ConnectionParameters(
            intervalMinimum: input.word(),
            intervalMaximum: input.word(),
            latency: input.word(),
            timeout: input.word()
        )
        asked += 1
        connection.requestParameterUpdate(parameters) { [unowned self] _ in outcomes += 1 }
    }

    private func receiveWhole(_ payload: [UInt8], on channel: ChannelIdentifier) {
        var pdu = PacketBuffer(copying: payload)
        pdu.prepend(integer: channel.rawValue)
        pdu.prepend(integer: UInt16(payload.count))
        link.onReceive?(pdu, true)
    }

    /// Checks that a whole PDU is still received, and that each request has ended once.
    func end() {
        loop.run(for: .seconds(60))
        received = []
        receiveWhole([1, 2, 3], on: .attribute)
        hold(received == [[1, 2, 3]], "a whole PDU is not received any more")
        hold(outcomes == asked, "\(asked) requests, \(outcomes) outcomes")
        connection.close()
    }

    static var seeds: [[UInt8]] {
        let commands: [[UInt8]] = [
            [0x12, 1, 8, 0, 24, 0, 40, 0, 0, 0, 44, 1], [0x13, 1, 2, 0, 0, 0], [0x01, 1, 2, 0, 0, 0],
            [0x14, 2, 10, 0, 0x80, 0, 0x40, 0, 0xF7, 0, 0x40, 0, 5, 0],
            [0x17, 3, 12, 0, 0x27, 0, 0xF7, 0, 0x40, 0, 5, 0, 0x40, 0, 0x41, 0],
            [0x19, 4, 8, 0, 0xF7, 0, 0x40, 0, 0x40, 0, 0x41, 0], [0x06, 5, 4, 0, 0x40, 0, 0x41, 0],
            [0x16, 6, 4, 0, 0x40, 0, 1, 0], [0x18, 7, 10, 0, 0xF7, 0, 0x40, 0, 5, 0, 0, 0, 0x40, 0],
            [0x15, 8, 10, 0, 0x40, 0, 0xF7, 0, 0x40, 0, 5, 0, 0, 0],
        ]
        let asking: [UInt8] = [7, 24, 0, 40, 0, 0, 0, 44, 1]
        let session = commands.flatMap { step(6, $0) }
        var fragments: [UInt8] = [0]
        for fragment in Recording.session.fragments.prefix(40) {
            fragments += step(fragment.isStart ? 0 : 3, fragment.octets)
        }
        let asCentral = commands.map { [0] + step(6, $0) }
        let asPeripheral = commands.map { [1] + asking + step(6, $0) }
        return asCentral + asPeripheral + [[0] + session, [1] + asking + session, fragments, [1, 0, 2, 5, 0, 5, 200]]
    }
}

import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Logging

extension FuzzTarget {
    /// A host whose controller completes bring-up, and then sends anything.
    static let host = FuzzTarget("host", maximumLength: 2_048, seeds: HostScene.seeds) { input in
        var input = input
        let scene = HostScene()
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }
}

/// The controller's end of a transport.
private final class ControllerEnd: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var toController: ((HCIPacket) -> Void)?

    func send(_ packet: HCIPacket) { toController?(packet) }
    func close() {}
}

private final class HostScene {
    private let loop = VirtualEventLoop()
    private let line = ControllerEnd()
    private let host: HCIHost
    private let server = GATTServer(database: GATTDatabase())
    private var connections: [ObjectIdentifier: (L2CAPConnection, GATTServerSession)] = [:]
    private var answers = true
    private var started = 0
    private var ended = 0
    private var sent = 0

    init() {
        let logger = Logger(label: "fuzzing") { _ in SwiftLogNoOpLogHandler() }
        host = HCIHost(transport: line, loop: loop, stackEvents: .log(logger))
        line.toController = { [unowned self] in received($0) }
        host.onConnection = { [unowned self] in connected($0) }
        host.onDisconnection = { [unowned self] connection, _ in disconnected(connection) }
        host.start()
        loop.run(for: .seconds(1))
        if case .ready = host.state { return }
        hold(false, "the host does not come up: \(host.state)")
    }

    private func connected(_ connection: HCIConnection) {
        let l2cap = L2CAPConnection(
            link: connection,
            role: connection.role == .central ? .central : .peripheral,
            loop: loop
        )
        let channel = l2cap.register(.attribute, maximumPayload: 247)
        let session = server.attach(ATTBearer(channel: channel, loop: loop, preferredMTU: 247))
        let old = connections.updateValue((l2cap, session), forKey: ObjectIdentifier(connection))
        hold(old == nil, "a connection was made twice")
        hold(connections.count <= 4_096, "too many connections")
    }

    private func disconnected(_ connection: HCIConnection) {
        guard let (l2cap, session) = connections.removeValue(forKey: ObjectIdentifier(connection)) else {
            return hold(false, "an unknown connection ended")
        }
        l2cap.close()
        server.detach(session)
    }

    private func received(_ packet: HCIPacket) {
        sent += 1
        hold(sent <= 50_000, "the host is too busy")
        guard packet.kind == .command else { return }
        guard let command = try? CommandPacket(reading: packet.bytes) else {
            return hold(false, "\(packet) is no command")
        }
        guard answers else { return }
        loop.execute { [unowned self] in line.onReceive?(Self.answer(command)) }
    }

    private static func answer(_ command: CommandPacket) -> HCIPacket {
        if command.opcode == LEReadBufferSize.opcode {
            let buffers = LEReadBufferSize.Response(aclDataPacketLength: 27, totalACLDataPackets: 4)
            return HCIPacket(CommandComplete(LEReadBufferSize.self, buffers))
        }
        guard let type = HCICommandRegistry.type(for: command.opcode) else {
            return HCIPacket(CommandComplete(credits: 1, opcode: command.opcode, parameters: [1]))
        }
        return type.isAnsweredByStatus
            ? HCIPacket(CommandStatus(credits: 1, opcode: command.opcode)) : good(type)
    }

    private static func good<C: HCICommand>(_ type: C.Type) -> HCIPacket {
        HCIPacket(CommandComplete(type, C.Response()))
    }

    func take(_ input: inout FuzzInput) {
        let kind = input.octet()
        switch kind & 0b1111 {
        case 0...5: line.onReceive?(HCIPacket(.event, PacketBuffer(input.counted())))
        case 6...10: line.onReceive?(HCIPacket(.acl, PacketBuffer(input.counted())))
        case 11: answers = kind & 0x10 == 0
        case 12: send(kind)
        case 13: loop.run(for: .milliseconds(Int(kind) * 50))
        case 14: host.connections.first?.send(PacketBuffer([UInt8](repeating: kind, count: Int(kind) + 4)))
        default: if kind & 0x10 == 0 { host.start() } else { host.stop() }
        }
        loop.run(for: .zero)
        check()
    }

    private func send(_ kind: UInt8) {
        started += 1
        let handle = ConnectionHandle(rawValue: UInt16(kind >> 4))
        switch kind >> 4 & 0b11 {
        case 0: host.send(ReadRSSI(handle: handle)) { [unowned self] _ in ended += 1 }
        case 1: host.send(Disconnect(handle: handle, reason: .remoteUserTerminated)) { [unowned self] _ in ended += 1 }
        case 2: host.send(LEReadRemoteFeatures(handle: handle)) { [unowned self] _ in ended += 1 }
        default: host.send(LERand()) { [unowned self] _ in ended += 1 }
        }
    }

    private func check() {
        hold(host.freeBuffers >= 0 && host.freeBuffers <= 4, "\(host.freeBuffers) of 4 buffers are free")
        hold(ended <= started, "a command has ended twice")
        hold(host.connections.count == connections.count, "a connection is not reported")
    }

    /// Checks that every command ends, and that bring-up succeeds once the controller behaves.
    func end() {
        answers = true
        host.stop()
        loop.run(for: .seconds(120))
        hold(ended == started, "\(started) commands, \(ended) ends")
        hold(connections.isEmpty, "connections survive the end")
        host.start()
        loop.run(for: .seconds(60))
        guard case .ready = host.state else { return hold(false, "the host does not come up again: \(host.state)") }
    }

    static var seeds: [[UInt8]] {
        let events = HCIEventRegistry.all.map { HCIPacket($0.init()).bytes.bytes }
        var session: [UInt8] = []
        for packet in Recording.session.controllerPackets.filter({ !isAnswer($0) }).prefix(80) {
            session += step(packet.kind == .acl ? 6 : 0, packet.bytes)
        }
        let single = events.map { step(0, $0) + [0x0C, 0x0D] }
        let own = (0..<16 as Range<UInt8>).map { [$0 << 4 | 12, 0x1B, $0 << 4 | 14, 0xFD] as [UInt8] }
        return single + own + [session, session + [0x1F, 0x0F, 0xFD]]
    }

    private static func isAnswer(_ packet: HCIPacket) -> Bool {
        packet.kind == .event && [0x0E, 0x0F].contains(packet.bytes.first ?? 0)
    }
}

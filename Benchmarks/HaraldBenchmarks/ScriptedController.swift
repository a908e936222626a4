import BluetoothTypes
import EventLoops
import HCI

/// A minimal controller: it responds to the commands of bring-up, has one connection, and discards the host's data, so
/// that only the host is measured.
final class ScriptedController: HCITransport {
    static let handle = ConnectionHandle(rawValue: 0x40)

    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    /// The number of ACL packets that the host has sent.
    private(set) var sent = 0
    /// The number of octets in them.
    private(set) var octets = 0

    private static let completed = HCIPacket(
        NumberOfCompletedPackets(entries: [.init(handle: handle, count: UInt16(buffers / 2))])
    )
    private static let buffers = 16
    private let loop: any EventLoop
    private var uncompleted = 0

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func close() {}

    func send(_ packet: HCIPacket) {
        switch packet.kind {
        case .command: answer(packet)
        case .acl: swallow(packet)
        default: break
        }
    }

    /// Returns half of the buffers at once, like a controller after a connection event.
    private func swallow(_ packet: HCIPacket) {
        sent += 1
        octets += packet.bytes.count
        uncompleted += 1
        guard uncompleted == Self.buffers / 2 else { return }
        uncompleted = 0
        respond(Self.completed)
    }

    private func answer(_ packet: HCIPacket) {
        guard let command = try? CommandPacket(reading: packet.bytes) else { return }
        respond(Self.answer(to: command))
    }

    /// A transport never calls the host back from a call of it.
    private func respond(_ packet: HCIPacket) {
        loop.execute { [unowned self] in onReceive?(packet) }
    }

    /// The response of an old controller, which supports little more than buffer sizes.
    static func answer(to command: CommandPacket) -> HCIPacket {
        switch command.opcode {
        case LEReadBufferSize.opcode:
            let buffers = LEReadBufferSize.Response(
                aclDataPacketLength: 251,
                totalACLDataPackets: UInt8(ScriptedController.buffers)
            )
            return HCIPacket(CommandComplete(LEReadBufferSize.self, buffers))
        case Reset.opcode, SetEventMask.opcode, LESetEventMask.opcode:
            return HCIPacket(CommandComplete(credits: 1, opcode: command.opcode, parameters: [0]))
        case LEReadLocalSupportedFeatures.opcode:
            return HCIPacket(CommandComplete(LEReadLocalSupportedFeatures.self, .init(features: [])))
        default:
            return HCIPacket(CommandComplete(credits: 1, opcode: command.opcode, parameters: [0x01]))
        }
    }

    /// Reports the connection to the host.
    func connect(_ role: LERole) {
        onReceive?(
            HCIPacket(
                LEConnectionComplete {
                    $0.handle = Self.handle
                    $0.role = role
                    $0.peerAddress = BluetoothAddress(role == .central ? 2 : 1, kind: .publicDevice)
                    $0.interval = 24
                    $0.latency = 0
                    $0.supervisionTimeout = 72
                    $0.centralClockAccuracy = .ppm50
                }
            )
        )
    }

    /// Delivers an ATT PDU to the host, as if it had arrived over the air.
    func deliver(_ pdu: [UInt8]) { onReceive?(Self.packet(pdu)) }

    /// An ATT PDU as a controller delivers it.
    static func packet(_ pdu: [UInt8]) -> HCIPacket {
        var bytes = PacketBuffer(copying: pdu)
        bytes.prepend(integer: UInt16(0x0004))
        bytes.prepend(integer: UInt16(pdu.count))
        return HCIPacket(ACLPacket(handle: handle, boundary: .start, payload: bytes))
    }
}

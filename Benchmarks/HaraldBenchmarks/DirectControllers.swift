import BluetoothTypes
import EventLoops
import HCI

/// Two controllers with no air in between: they respond to the commands of bring-up, are connected from the start, and
/// forward data at once, so that only the two hosts are measured.
final class DirectControllers {
    static let handle = ConnectionHandle(rawValue: 0x40)

    let hosts: [InMemoryTransport]
    private let ends: [InMemoryTransport]

    init(loop: any EventLoop) {
        let lines = [InMemoryTransport.pair(loop: loop), InMemoryTransport.pair(loop: loop)]
        hosts = lines.map(\.host)
        ends = lines.map(\.controller)
        for (index, end) in ends.enumerated() {
            let peer = ends[1 - index]
            end.onReceive = { [unowned end, unowned peer] packet in
                switch packet.kind {
                case .acl: Self.relay(packet, from: end, to: peer)
                case .command: Self.answer(packet, on: end)
                default: break
                }
            }
        }
    }

    /// Reports the connection to both hosts.
    func connect() {
        for (end, role) in zip(ends, [LERole.central, .peripheral]) {
            end.send(
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
    }

    private static func relay(_ packet: HCIPacket, from end: InMemoryTransport, to peer: InMemoryTransport) {
        var bytes = packet.bytes
        // A host starts a PDU with flag 0, and a controller delivers it with flag 2 (Core Vol 4 Part E 5.4.2).
        if bytes[1] & 0x30 == 0 { bytes[1] |= 0x20 }
        peer.send(HCIPacket(.acl, bytes))
        end.send(HCIPacket(NumberOfCompletedPackets(entries: [.init(handle: handle, count: 1)])))
    }

    private static func answer(_ packet: HCIPacket, on end: InMemoryTransport) {
        guard let command = try? CommandPacket(reading: packet.bytes) else { return }
        end.send(ScriptedController.answer(to: command))
    }
}

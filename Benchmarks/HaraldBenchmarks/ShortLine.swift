import BluetoothTypes
import EventLoops
import HCI

/// A host's transport with two lengths. At first everything goes to the controller. Once it is short, data goes
/// directly to the host at the other end of the connection, as if there were no controllers and no air.
final class ShortLine: HCITransport {
    var onReceive: ((HCIPacket) -> Void)? {
        didSet { line.onReceive = { [unowned self] in arrive($0) } }
    }
    var onClose: ((HCITransportError) -> Void)?
    /// The host at the other end; nil while the transport has its full length.
    weak var other: ShortLine?
    /// The last data packet that arrived over the full length.
    private(set) var last: HCIPacket?
    /// The last notification received.
    private(set) var lastNotification: HCIPacket?

    private let line: InMemoryTransport
    private let loop: any EventLoop
    private var handle = ConnectionHandle(rawValue: 0)
    private var arriving: [HCIPacket] = []
    private var arrived: [HCIPacket] = []
    /// The number of packets whose buffers the host has not got back.
    private var completed = 0
    private var isArriving = false

    init(_ line: InMemoryTransport, loop: any EventLoop) {
        self.line = line
        self.loop = loop
    }

    func close() { line.close() }

    func send(_ packet: HCIPacket) {
        guard packet.kind == .acl, let other else { return line.send(packet) }
        var bytes = packet.bytes
        bytes[0] = UInt8(truncatingIfNeeded: other.handle.rawValue)
        // A host starts a PDU with flag 0, and a controller delivers it with flag 2 (Core Vol 4 Part E 5.4.2).
        let flags = bytes[1] & 0x30 == 0 ? bytes[1] | 0x20 : bytes[1]
        bytes[1] = flags & 0xF0 | UInt8(other.handle.rawValue >> 8)
        let packet = HCIPacket(.acl, bytes)
        // The opcode follows the headers of HCI and L2CAP.
        if bytes.count > 8, bytes[8] == 0x1B { other.lastNotification = packet }
        other.arriving.append(packet)
        other.arrive()
        completed += 1
        arrive()
    }

    /// Delivers a packet to the host as if it came from the controller.
    func receive(_ packet: HCIPacket) { onReceive?(packet) }

    private func arrive(_ packet: HCIPacket) {
        if packet.kind == .acl {
            handle = ConnectionHandle(rawValue: UInt16(packet.bytes[0]) | UInt16(packet.bytes[1] & 0x0F) << 8)
            last = packet
        }
        onReceive?(packet)
    }

    /// Delivers received packets, and returns all buffers to the host.
    private func arrive() {
        guard !isArriving else { return }
        isArriving = true
        loop.execute { [weak self] in
            guard let self else { return }
            isArriving = false
            swap(&arriving, &arrived)
            for packet in arrived { onReceive?(packet) }
            arrived.removeAll(keepingCapacity: true)
            guard completed > 0 else { return }
            let entry = CompletedPackets(handle: handle, count: UInt16(completed))
            completed = 0
            onReceive?(HCIPacket(NumberOfCompletedPackets(entries: [entry])))
        }
    }
}

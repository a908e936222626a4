import BluetoothTypes
import EventLoops
import HCI

/// A host's line to its controller, in two lengths. At first everything goes to the controller; once it is short, data go to the
/// host at the other end of the connection at once, as if there were no controllers and no air.
final class ShortLine: HCITransport {
    var onReceive: ((HCIPacket) -> Void)? {
        didSet { line.onReceive = { [unowned self] in arrive($0) } }
    }
    var onClose: ((HCITransportError) -> Void)?
    /// The host at the other end; nil as long as the line has its whole length.
    weak var other: ShortLine?
    /// The last data packet that has come over the whole length.
    private(set) var last: HCIPacket?
    /// The last notification that has come.
    private(set) var lastNotification: HCIPacket?

    private let line: InMemoryTransport
    private let loop: any EventLoop
    private var handle = ConnectionHandle(rawValue: 0)
    private var arriving: [HCIPacket] = []
    private var arrived: [HCIPacket] = []
    /// Packets that the host has not got the buffers back of.
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
        // What a host starts with flag 0 a controller delivers with flag 2 (Core Vol 4 Part E 5.4.2).
        let flags = bytes[1] & 0x30 == 0 ? bytes[1] | 0x20 : bytes[1]
        bytes[1] = flags & 0xF0 | UInt8(other.handle.rawValue >> 8)
        let packet = HCIPacket(.acl, bytes)
        // The opcode comes after the headers of HCI and L2CAP.
        if bytes.count > 8, bytes[8] == 0x1B { other.lastNotification = packet }
        other.arriving.append(packet)
        other.arrive()
        completed += 1
        arrive()
    }

    /// Hands a packet to the host as if it had come from the controller.
    func receive(_ packet: HCIPacket) { onReceive?(packet) }

    private func arrive(_ packet: HCIPacket) {
        if packet.kind == .acl {
            handle = ConnectionHandle(rawValue: UInt16(packet.bytes[0]) | UInt16(packet.bytes[1] & 0x0F) << 8)
            last = packet
        }
        onReceive?(packet)
    }

    /// Hands over what has come, and gives the host all its buffers back.
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

import BluetoothTypes
import EventLoops
import HCI

/// The end of a transport whose other end is the test: a host's end, or a controller's.
package final class TestTransport: HCITransport {
    package let loop: VirtualEventLoop
    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    /// Called with each packet that is sent.
    package var onSend: ((HCIPacket) -> Void)?
    /// The packets sent so far.
    package var sent: [HCIPacket] = []
    package private(set) var isClosed = false
    package var place = ""
    package var maximumACLPayload: Int?
    package var isOpening = false

    package init(loop: VirtualEventLoop) {
        self.loop = loop
    }

    package func send(_ packet: HCIPacket) {
        sent.append(packet)
        onSend?(packet)
    }

    package func close() { isClosed = true }

    /// Delivers a packet in a task of its own.
    package func inject(_ packet: HCIPacket) {
        loop.execute { [weak self] in self?.onReceive?(packet) }
    }

    private var commandPackets: [CommandPacket] {
        sent.filter { $0.kind == .command }.compactMap { try? CommandPacket(reading: $0.bytes) }
    }

    /// The commands sent so far.
    package var commands: [any HCICommand] { commandPackets.compactMap { try? HCICommandRegistry.decode($0) } }

    /// The commands sent so far, by name.
    package var commandNames: [String] {
        commandPackets.map { HCICommandRegistry.type(for: $0.opcode)?.name ?? "\($0.opcode)" }
    }

    /// The data sent so far.
    package var data: [ACLPacket] {
        sent.filter { $0.kind == .acl }.compactMap { try? ACLPacket(reading: $0.bytes) }
    }

    /// Forgets the commands sent so far, but not the data.
    package func forgetCommands() { sent.removeAll { $0.kind == .command } }
}

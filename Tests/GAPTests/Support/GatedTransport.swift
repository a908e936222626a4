import BluetoothTypes
import HCI
import HCIHost

/// The transport between a host and its controller, where a test delays, changes or injects packets.
final class GatedTransport: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    /// Which packets of the controller wait for ``release()``.
    var holds: (HCIPacket) -> Bool = { _ in false }
    /// Changes the host's packets; returns nil to drop one.
    var change: (HCIPacket) -> HCIPacket? = { $0 }
    private let line: any HCITransport
    private var held: [HCIPacket] = []

    init(_ line: any HCITransport) {
        self.line = line
        line.onReceive = { [unowned self] packet in
            if holds(packet) { held.append(packet) } else { onReceive?(packet) }
        }
        line.onClose = { [unowned self] in onClose?($0) }
    }

    func send(_ packet: HCIPacket) {
        if let changed = change(packet) { line.send(changed) }
    }

    func close() { line.close() }

    /// Delivers all waiting packets and stops holding.
    func release() {
        holds = { _ in false }
        let waiting = held
        held = []
        for packet in waiting { onReceive?(packet) }
    }

    /// Delivers data from the controller on a fixed channel of a link, as if the peer had sent them.
    func inject(_ payload: [UInt8], on channel: UInt16, of link: HCIConnection) {
        var pdu = PacketBuffer(copying: payload)
        pdu.prepend(integer: channel)
        pdu.prepend(integer: UInt16(payload.count))
        onReceive?(HCIPacket(ACLPacket(handle: link.handle, boundary: .start, payload: pdu)))
    }
}

extension HCIPacket {
    /// Encryption Change in both versions (Core Vol 4 Part E 7.7.8).
    var isEncryptionChange: Bool { kind == .event && [0x08, 0x59].contains(bytes.first) }

    /// The same packet with another command of the Security Manager in it.
    func replacingSecurityCommand(_ command: [UInt8]) -> HCIPacket {
        var acl = ACLPacket(handle: ConnectionHandle(rawValue: 0), boundary: .start, payload: [])
        if let own = try? ACLPacket(reading: bytes) { acl = own }
        var pdu = PacketBuffer(copying: command)
        pdu.prepend(integer: UInt16(6))
        pdu.prepend(integer: UInt16(command.count))
        return HCIPacket(ACLPacket(handle: acl.handle, boundary: acl.boundary, payload: pdu))
    }
}

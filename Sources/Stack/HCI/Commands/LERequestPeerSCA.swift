import BluetoothTypes

/// LE Request Peer SCA (Core Vol 4 Part E 7.8.108): reads the sleep clock accuracy of a peer. LE Request Peer SCA
/// Complete follows.
package struct LERequestPeerSCA: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x006D) }
    package static var name: String { "LE Request Peer SCA" }
    package static var isAnsweredByStatus: Bool { true }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 43, bit: 2) }

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

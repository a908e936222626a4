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

/// LE Request Peer SCA Complete (Core Vol 4 Part E 7.7.65.31): the sleep clock accuracy of a peer.
package struct LERequestPeerSCAComplete: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x1F) }
    package static var name: String { "LE Request Peer SCA Complete" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The clock accuracy of the peer.
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, accuracy: LEClockAccuracy) {
        self.status = status
        self.handle = handle
        self.accuracy = accuracy
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Peer_Clock_Accuracy", &accuracy)
    }
}

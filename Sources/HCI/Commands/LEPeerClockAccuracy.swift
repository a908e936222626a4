import BluetoothTypes

/// LE Request Peer SCA (Core Vol 4 Part E 7.8.108): asks a peer how good its sleep clock is. LE Request Peer SCA Complete
/// follows.
package struct LERequestPeerSCA: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x006D) }
    /// The command's name.
    package static var name: String { "LE Request Peer SCA" }
    /// Command Status answers it.
    package static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 43, bit: 2) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

/// LE Request Peer SCA Complete (Core Vol 4 Part E 7.7.65.31): how good the sleep clock of a peer is.
package struct LERequestPeerSCAComplete: LEEvent {
    /// The number among the LE events.
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x1F) }
    /// The event's name.
    package static var name: String { "LE Request Peer SCA Complete" }

    /// Whether and why it failed.
    package var status = HCIStatus.success
    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// The peer's clock.
    package var accuracy = LEClockAccuracy(rawValue: 0)

    /// An event with every parameter zero.
    package init() {}

    /// An event with these parameters.
    package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, accuracy: LEClockAccuracy) {
        self.status = status
        self.handle = handle
        self.accuracy = accuracy
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Peer_Clock_Accuracy", &accuracy)
    }
}

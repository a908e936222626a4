import BluetoothTypes

/// LE Request Peer SCA (Core Vol 4 Part E 7.8.108): reads the sleep clock accuracy of a peer. LE Request Peer SCA
/// Complete follows.
package struct LERequestPeerSCA: HCICommand {
    package static let entry = CommandEntry(.le, 0x6D, "LE Request Peer SCA", bit: (43, 2), .status)

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
    package init(handle: ConnectionHandle) { self.handle = handle }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

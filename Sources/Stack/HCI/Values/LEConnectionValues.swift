import BluetoothTypes

/// The role of a device in a connection (Core Vol 4 Part E 7.7.65.1).
package struct LERole: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device that initiated the connection.
    package static let central = LERole(rawValue: 0x00)
    /// The device that accepted the connection.
    package static let peripheral = LERole(rawValue: 0x01)

    package static let names = ["central", "peripheral"]
}

/// The peers to which an initiator connects (Core Vol 4 Part E 7.8.12).
package struct LEInitiatorFilterPolicy: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let peerAddress = LEInitiatorFilterPolicy(rawValue: 0x00)
    /// The first device found that is on the filter accept list.
    package static let acceptList = LEInitiatorFilterPolicy(rawValue: 0x01)

    package static let names = ["peer address", "accept list"]
}

/// The accuracy of a sleep clock, as its maximum error (Core Vol 4 Part E 7.7.65.1).
package struct LEClockAccuracy: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let ppm500 = LEClockAccuracy(rawValue: 0x00)
    package static let ppm250 = LEClockAccuracy(rawValue: 0x01)
    package static let ppm100 = LEClockAccuracy(rawValue: 0x03)
    package static let ppm50 = LEClockAccuracy(rawValue: 0x05)
    package static let ppm20 = LEClockAccuracy(rawValue: 0x07)

    package static let names = ["500 ppm", "250 ppm", "150 ppm", "100 ppm", "75 ppm", "50 ppm", "30 ppm", "20 ppm"]
}

/// The encryption state of a link (Core Vol 4 Part E 7.7.8).
package struct EncryptionState: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let off = EncryptionState(rawValue: 0x00)
    /// Encrypted; on LE links with AES-CCM.
    package static let on = EncryptionState(rawValue: 0x01)

    package static let names = ["off", "on"]
}

/// The privacy mode, which determines the addresses accepted from a peer with an identity resolving key (Core Vol 4
/// Part E 7.8.77).
package struct LEPrivacyMode: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Only resolvable private addresses of the peer are accepted.
    package static let network = LEPrivacyMode(rawValue: 0x00)
    /// The peer's identity address is accepted too.
    package static let device = LEPrivacyMode(rawValue: 0x01)

    package static let names = ["network", "device"]
}

/// The channel selection algorithm of a connection (Core Vol 4 Part E 7.7.65.20).
package struct LEChannelSelection: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let algorithm1 = LEChannelSelection(rawValue: 0x00)
    package static let algorithm2 = LEChannelSelection(rawValue: 0x01)

    package static let names = ["#1", "#2"]
}

/// A connection handle, which identifies a connection between a host and its controller: 0x0000 to 0x0EFF (Core Vol 4
/// Part E 5.3.1).
package struct ConnectionHandle: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Creates a handle. Only the 12 low bits are significant.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The highest handle that a controller may assign.
    package static let maximum = ConnectionHandle(rawValue: 0x0EFF)

    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// The number of completed packets of a connection.
package struct CompletedPackets: PacketFields, Hashable, Sendable {
    package var handle = ConnectionHandle(rawValue: 0)
    /// The number of packets completed since the last report.
    package var count: UInt16 = 0

    package init() {}
    package init(handle: ConnectionHandle, count: UInt16) { (self.handle, self.count) = (handle, count) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Num_Completed_Packets", &count)
    }
}

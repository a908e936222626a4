import BluetoothTypes

/// Ends a connection (Core Vol 4 Part E 7.1.6). Disconnection Complete follows.
package struct Disconnect: HCICommand {
    package static let entry = CommandEntry(.linkControl, 0x06, "Disconnect", bit: (0, 5), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    /// The error code for the peer: one of 0x05, 0x13 to 0x15, 0x1A, 0x29, 0x3B.
    package var reason = HCIStatus.success

    package init() {}
    package init(handle: ConnectionHandle, reason: HCIStatus) { (self.handle, self.reason) = (handle, reason) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Reason", &reason)
    }
}

/// Reads the version of a peer (Core Vol 4 Part E 7.1.23). Read Remote Version Information Complete follows.
package struct ReadRemoteVersionInformation: LinkCommand {
    package static let entry = CommandEntry(.linkControl, 0x1D, "Read Remote Version Information", bit: (2, 7), .status)

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Reads the RSSI of the last packet from the peer (Core Vol 4 Part E 7.5.4).
package struct ReadRSSI: LinkCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
        package var rssi: Int8 = 0

        package init() {}

        package init(status: HCIStatus = .success, handle: ConnectionHandle, rssi: Int8) {
            (self.status, self.handle, self.rssi) = (status, handle, rssi)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Handle", &handle)
            try coder.field("RSSI", &rssi)
        }
    }

    package static let entry = CommandEntry(.statusParameters, 0x05, "Read RSSI", bit: (15, 5))

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Handle", &handle)
    }
}

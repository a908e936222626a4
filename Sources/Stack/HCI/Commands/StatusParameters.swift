import BluetoothTypes

/// Read RSSI (Core Vol 4 Part E 7.5.4): reads the RSSI of the last packet from the peer.
package struct ReadRSSI: HCICommand {
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
    package init(handle: ConnectionHandle) { self.handle = handle }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Handle", &handle)
    }
}

import BluetoothTypes

/// A connection has ended (Core Vol 4 Part E 7.7.5).
package struct DisconnectionComplete: HCIEvent {
    package static let entry = EventEntry(0x05, "Disconnection Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var reason = HCIStatus.success

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle, reason: HCIStatus) {
        (self.status, self.handle, self.reason) = (status, handle, reason)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Reason", &reason)
    }
}

/// The encryption of a link has changed, or the change has failed (Core Vol 4 Part E 7.7.8).
package struct EncryptionChange: HCIEvent {
    package static let entry = EventEntry(0x08, "Encryption Change [v1]")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var state = EncryptionState(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle, state: EncryptionState) {
        (self.status, self.handle, self.state) = (status, handle, state)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Encryption_Enabled", &state)
    }
}

/// The encryption of a link has changed, or the change has failed (Core Vol 4 Part E 7.7.8). It includes the size of
/// the key.
package struct EncryptionChangeV2: HCIEvent {
    package static let entry = EventEntry(0x59, "Encryption Change [v2]")

    package var v1 = EncryptionChange()
    /// The size of the key, in octets, 7 to 16.
    package var keySize: UInt8 = 0

    package init() {}
    package init(_ v1: EncryptionChange, keySize: UInt8) { (self.v1, self.keySize) = (v1, keySize) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Encryption_Key_Size", &keySize)
    }
}

/// The key of a link has been refreshed (Core Vol 4 Part E 7.7.39).
package struct EncryptionKeyRefreshComplete: HCIEvent {
    package static let entry = EventEntry(0x30, "Encryption Key Refresh Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle) {
        (self.status, self.handle) = (status, handle)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
    }
}

/// The version of a peer (Core Vol 4 Part E 7.7.12).
package struct ReadRemoteVersionInformationComplete: HCIEvent {
    package static let entry = EventEntry(0x0C, "Read Remote Version Information Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var version = SpecificationVersion(rawValue: 0)
    /// The manufacturer's company identifier, as assigned by the Bluetooth SIG.
    package var companyIdentifier: UInt16 = 0
    /// The manufacturer's revision of the peer's link layer.
    package var subversion: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Version", &version)
        try coder.field("Company_Identifier", &companyIdentifier)
        try coder.field("Subversion", &subversion)
    }
}

/// No authenticated packet has arrived within the timeout (Core Vol 4 Part E 7.7.75).
package struct AuthenticatedPayloadTimeoutExpired: HCIEvent {
    package static let entry = EventEntry(0x57, "Authenticated Payload Timeout Expired")

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
    package init(handle: ConnectionHandle) { self.handle = handle }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

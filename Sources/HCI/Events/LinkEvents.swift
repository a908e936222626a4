import BluetoothTypes

/// Disconnection Complete (Core Vol 4 Part E 7.7.5): a connection has ended.
package struct DisconnectionComplete: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x05) }
    package static var name: String { "Disconnection Complete" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// Why it ended.
    package var reason = HCIStatus.success

    package init() {}

    package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, reason: HCIStatus) {
        self.status = status
        self.handle = handle
        self.reason = reason
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Reason", &reason)
    }
}

/// Encryption Change [v1] (Core Vol 4 Part E 7.7.8): a link has been encrypted, or has not.
package struct EncryptionChange: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x08) }
    package static var name: String { "Encryption Change [v1]" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// Whether it is encrypted now.
    package var state = EncryptionState(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, state: EncryptionState) {
        self.status = status
        self.handle = handle
        self.state = state
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Encryption_Enabled", &state)
    }
}

/// Encryption Change [v2] (Core Vol 4 Part E 7.7.8): a link has been encrypted, or has not.
package struct EncryptionChangeV2: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x59) }
    package static var name: String { "Encryption Change [v2]" }

    /// What version 1 says too.
    package var v1 = EncryptionChange()
    /// The size of the key in octets, 7 to 16.
    package var keySize: UInt8 = 0

    package init() {}

    package init(_ v1: EncryptionChange, keySize: UInt8) {
        self.v1 = v1
        self.keySize = keySize
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Encryption_Key_Size", &keySize)
    }
}

/// Encryption Key Refresh Complete (Core Vol 4 Part E 7.7.39): the key of a link has been changed.
package struct EncryptionKeyRefreshComplete: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x30) }
    package static var name: String { "Encryption Key Refresh Complete" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle) {
        self.status = status
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
    }
}

/// Read Remote Version Information Complete (Core Vol 4 Part E 7.7.12): the version of a peer.
package struct ReadRemoteVersionInformationComplete: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x0C) }
    package static var name: String { "Read Remote Version Information Complete" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The version of its link layer.
    package var version = SpecificationVersion(rawValue: 0)
    /// The maker, by the number that the Bluetooth SIG gave it.
    package var companyIdentifier: UInt16 = 0
    /// The maker's revision.
    package var subversion: UInt16 = 0

    package init() {}

    package init(
        status: HCIStatus = HCIStatus.success,
        handle: ConnectionHandle,
        version: SpecificationVersion,
        companyIdentifier: UInt16,
        subversion: UInt16
    ) {
        self.status = status
        self.handle = handle
        self.version = version
        self.companyIdentifier = companyIdentifier
        self.subversion = subversion
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Version", &version)
        try coder.field("Company_Identifier", &companyIdentifier)
        try coder.field("Subversion", &subversion)
    }
}

/// Authenticated Payload Timeout Expired (Core Vol 4 Part E 7.7.75): no authenticated packet came for the time that
/// was set.
package struct AuthenticatedPayloadTimeoutExpired: HCIEvent {
    package static var eventCode: EventCode { EventCode(rawValue: 0x57) }
    package static var name: String { "Authenticated Payload Timeout Expired" }

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

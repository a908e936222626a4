import BluetoothTypes

/// The link-layer features of a peer (Core Vol 4 Part E 7.7.65.4).
package struct LEReadRemoteFeaturesComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x04, "LE Read Remote Features Page 0 Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var features: LEFeatures = []

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle, features: LEFeatures) {
        (self.status, self.handle, self.features) = (status, handle, features)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("LE_Features", &features)
    }
}

/// A peripheral's controller requests the key of a link (Core Vol 4 Part E 7.7.65.5).
package struct LELongTermKeyRequest: HCIEvent {
    package static let entry = EventEntry(le: 0x05, "LE Long Term Key Request")

    package var handle = ConnectionHandle(rawValue: 0)
    /// Rand, which identifies the key; 0 with LE Secure Connections.
    package var random: UInt64 = 0
    /// EDIV, which identifies the key; 0 with LE Secure Connections.
    package var encryptedDiversifier: UInt16 = 0

    package init() {}

    package init(handle: ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16) {
        (self.handle, self.random, self.encryptedDiversifier) = (handle, random, encryptedDiversifier)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Random_Number", &random)
        try coder.field("Encrypted_Diversifier", &encryptedDiversifier)
    }
}

/// The maximum packet lengths of a connection have changed (Core Vol 4 Part E 7.7.65.7).
package struct LEDataLengthChange: HCIEvent {
    package static let entry = EventEntry(le: 0x07, "LE Data Length Change")

    package var handle = ConnectionHandle(rawValue: 0)
    /// The maximum payload for transmission, in octets.
    package var maxTxOctets: UInt16 = 0
    /// The maximum duration of a transmitted packet, in µs.
    package var maxTxTime: UInt16 = 0
    /// The maximum payload for reception, in octets.
    package var maxRxOctets: UInt16 = 0
    /// The maximum duration of a received packet, in µs.
    package var maxRxTime: UInt16 = 0

    package init() {}

    package init(
        handle: ConnectionHandle,
        maxTxOctets: UInt16,
        maxTxTime: UInt16,
        maxRxOctets: UInt16,
        maxRxTime: UInt16
    ) {
        self.handle = handle
        self.maxTxOctets = maxTxOctets
        self.maxTxTime = maxTxTime
        self.maxRxOctets = maxRxOctets
        self.maxRxTime = maxRxTime
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Max_TX_Octets", &maxTxOctets)
        try coder.field("Max_TX_Time", &maxTxTime)
        try coder.field("Max_RX_Octets", &maxRxOctets)
        try coder.field("Max_RX_Time", &maxRxTime)
    }
}

/// The PHYs of a connection have changed, or the change has failed (Core Vol 4 Part E 7.7.65.12).
package struct LEPHYUpdateComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x0C, "LE PHY Update Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var txPHY = LEPHY(rawValue: 0)
    package var rxPHY = LEPHY(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle, txPHY: LEPHY, rxPHY: LEPHY) {
        (self.status, self.handle, self.txPHY, self.rxPHY) = (status, handle, txPHY, rxPHY)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("TX_PHY", &txPHY)
        try coder.field("RX_PHY", &rxPHY)
    }
}

/// The sleep clock accuracy of a peer (Core Vol 4 Part E 7.7.65.31).
package struct LERequestPeerSCAComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x1F, "LE Request Peer SCA Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = .success, handle: ConnectionHandle, accuracy: LEClockAccuracy) {
        (self.status, self.handle, self.accuracy) = (status, handle, accuracy)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Peer_Clock_Accuracy", &accuracy)
    }
}

import BluetoothTypes

/// A connection has been established, or an attempt has failed (Core Vol 4 Part E 7.7.65.1).
package struct LEConnectionComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x01, "LE Connection Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var role = LERole(rawValue: 0)
    /// The peer's address in the connection request or the advertisement.
    package var peerAddress = BluetoothAddress.none
    /// The connection interval, in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// The peripheral latency: how many connection events in a row the peripheral may skip.
    package var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0
    /// The clock accuracy of the central; only valid for a peripheral.
    package var centralClockAccuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Role", &role)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        try coder.field("Connection_Interval", &interval)
        try coder.field("Peripheral_Latency", &latency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
        try coder.field("Central_Clock_Accuracy", &centralClockAccuracy)
    }
}

/// A connection has been established, or an attempt has failed (Core Vol 4 Part E 7.7.65.10). It includes the
/// resolvable private addresses in use.
package struct LEEnhancedConnectionComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x0A, "LE Enhanced Connection Complete [v1]")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var role = LERole(rawValue: 0)
    /// The peer's address, or its identity address if the controller resolved it.
    package var peerAddress = BluetoothAddress.none
    /// The resolvable private address of this device; zero for none.
    package var localResolvableAddress = BluetoothAddress(0, kind: .randomDevice)
    /// The resolvable private address of the peer; zero for none.
    package var peerResolvableAddress = BluetoothAddress(0, kind: .randomDevice)
    /// The connection interval, in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// The peripheral latency: how many connection events in a row the peripheral may skip.
    package var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0
    /// The clock accuracy of the central; only valid for a peripheral.
    package var centralClockAccuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Role", &role)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        try coder.address("Local_Resolvable_Private_Address", &localResolvableAddress)
        try coder.address("Peer_Resolvable_Private_Address", &peerResolvableAddress)
        try coder.field("Connection_Interval", &interval)
        try coder.field("Peripheral_Latency", &latency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
        try coder.field("Central_Clock_Accuracy", &centralClockAccuracy)
    }
}

/// The parameters of a connection have changed, or the change has failed (Core Vol 4 Part E 7.7.65.3).
package struct LEConnectionUpdateComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x03, "LE Connection Update Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The connection interval, in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// The peripheral latency: how many connection events in a row the peripheral may skip.
    package var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0

    package init() {}

    package init(
        status: HCIStatus = HCIStatus.success,
        handle: ConnectionHandle,
        interval: UInt16,
        latency: UInt16,
        supervisionTimeout: UInt16
    ) {
        self.status = status
        self.handle = handle
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Connection_Interval", &interval)
        try coder.field("Peripheral_Latency", &latency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
    }
}

/// The peer requests other connection parameters, which the host accepts or rejects (Core Vol 4 Part E 7.7.65.6).
package struct LERemoteConnectionParameterRequest: HCIEvent {
    package static let entry = EventEntry(le: 0x06, "LE Remote Connection Parameter Request")

    package var handle = ConnectionHandle(rawValue: 0)
    /// The minimum connection interval, in units of 1.25 ms, 0x0006 to 0x0C80.
    package var intervalMin: UInt16 = 0
    /// The maximum connection interval, in units of 1.25 ms, 0x0006 to 0x0C80.
    package var intervalMax: UInt16 = 0
    /// The maximum peripheral latency, in connection events, 0 to 0x01F3.
    package var maxLatency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms, 0x000A to 0x0C80.
    package var supervisionTimeout: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Interval_Min", &intervalMin)
        try coder.field("Interval_Max", &intervalMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Timeout", &supervisionTimeout)
    }
}

/// The channel selection algorithm of a new connection (Core Vol 4 Part E 7.7.65.20).
package struct LEChannelSelectionAlgorithm: HCIEvent {
    package static let entry = EventEntry(le: 0x14, "LE Channel Selection Algorithm")

    package var handle = ConnectionHandle(rawValue: 0)
    package var algorithm = LEChannelSelection(rawValue: 0)

    package init() {}

    package init(handle: ConnectionHandle, algorithm: LEChannelSelection) {
        (self.handle, self.algorithm) = (handle, algorithm)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Channel_Selection_Algorithm", &algorithm)
    }
}

/// A connection has been established, or an attempt has failed (Core Vol 4 Part E 7.7.65.10). It includes the
/// resolvable private addresses and the periodic advertising train in use.
package struct LEEnhancedConnectionCompleteV2: HCIEvent {
    package static let entry = EventEntry(le: 0x29, "LE Enhanced Connection Complete [v2]")

    package var v1 = LEEnhancedConnectionComplete()
    /// For a central, the advertising handle of the train used; 0xFF for none.
    package var set: UInt8 = 0
    /// For a peripheral, the sync handle of the train used; 0xFFFF for none.
    package var syncHandle: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Advertising_Handle", &set)
        try coder.field("Sync_Handle", &syncHandle)
    }
}

/// The subrate parameters of a link have changed, or a request has failed (Core Vol 4 Part E 7.7.65.35).
package struct LESubrateChange: HCIEvent {
    package static let entry = EventEntry(le: 0x23, "LE Subrate Change")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The subrate factor: the link uses every `factor`-th connection event.
    package var factor: UInt16 = 0
    /// The peripheral latency, in subrated events.
    package var latency: UInt16 = 0
    /// The continuation number: how many events after one with data stay in use.
    package var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Subrate_Factor", &factor)
        try coder.field("Peripheral_Latency", &latency)
        try coder.field("Continuation_Number", &continuation)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
    }
}

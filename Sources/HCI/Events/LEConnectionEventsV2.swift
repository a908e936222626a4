import BluetoothTypes

/// LE Enhanced Connection Complete [v2] (Core Vol 4 Part E 7.7.65.10): a connection has been made, or could not be,
/// with the private addresses and the periodic advertising that were used.
package struct LEEnhancedConnectionCompleteV2: LEEvent {
    /// The number among the LE events.
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x29) }
    /// The event's name.
    package static var name: String { "LE Enhanced Connection Complete [v2]" }

    /// Whether and why it failed.
    package var status = HCIStatus.success
    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// Which end this device is.
    package var role = LERole(rawValue: 0)
    /// The peer.
    package var peerAddress = BluetoothAddress.none
    /// The private address that this device used; zero for none.
    package var localResolvableAddress = BluetoothAddress(0, kind: .randomDevice)
    /// The private address that the peer used; zero for none.
    package var peerResolvableAddress = BluetoothAddress(0, kind: .randomDevice)
    /// The connection interval in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// How many connection events in a row the peripheral may leave out.
    package var latency: UInt16 = 0
    /// How long silence is borne, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0
    /// The central's clock; means something to a peripheral only.
    package var centralClockAccuracy = LEClockAccuracy(rawValue: 0)
    /// For a central, the set whose periodic advertising was used; 0xFF for none.
    package var set: UInt8 = 0
    /// For a peripheral, the periodic advertising that was used; 0xFFFF for none.
    package var syncHandle: UInt16 = 0

    /// An event with every parameter zero.
    package init() {}

    /// An event with these parameters.
    package init(
        status: HCIStatus = HCIStatus.success,
        handle: ConnectionHandle,
        role: LERole,
        peerAddress: BluetoothAddress,
        localResolvableAddress: BluetoothAddress = BluetoothAddress(0, kind: .randomDevice),
        peerResolvableAddress: BluetoothAddress = BluetoothAddress(0, kind: .randomDevice),
        interval: UInt16,
        latency: UInt16,
        supervisionTimeout: UInt16,
        centralClockAccuracy: LEClockAccuracy,
        set: UInt8,
        syncHandle: UInt16
    ) {
        self.status = status
        self.handle = handle
        self.role = role
        self.peerAddress = peerAddress
        self.localResolvableAddress = localResolvableAddress
        self.peerResolvableAddress = peerResolvableAddress
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.centralClockAccuracy = centralClockAccuracy
        self.set = set
        self.syncHandle = syncHandle
    }

    /// Names the parameters.
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
        try coder.field("Advertising_Handle", &set)
        try coder.field("Sync_Handle", &syncHandle)
    }
}

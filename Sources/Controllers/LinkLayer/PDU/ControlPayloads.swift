import BluetoothTypes
import HCI

/// LL_CONNECTION_UPDATE_IND (Core Vol 6 Part B 2.4.2.1).
struct ConnectionUpdateIndication: PacketFields, Hashable {
    /// The size of the transmit window, in units of 1.25 ms.
    var windowSize: UInt8 = 0
    /// The offset of the transmit window, in units of 1.25 ms.
    var windowOffset: UInt16 = 0
    /// The interval, in units of 1.25 ms.
    var interval: UInt16 = 0
    /// The peripheral latency: the number of events that the peripheral may skip.
    var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0
    /// The event counter at which the change takes effect.
    var instant: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("WinSize", &windowSize)
        try coder.field("WinOffset", &windowOffset)
        try coder.field("Interval", &interval)
        try coder.field("Latency", &latency)
        try coder.field("Timeout", &timeout)
        try coder.field("Instant", &instant)
    }
}

/// LL_CHANNEL_MAP_IND (2.4.2.2).
struct ChannelMapIndication: PacketFields, Hashable {
    var map = ChannelMap()
    /// The event counter at which the change takes effect.
    var instant: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("ChM", &map)
        try coder.field("Instant", &instant)
    }
}

/// LL_TERMINATE_IND (2.4.2.3) and LL_REJECT_IND (2.4.2.14).
struct ErrorIndication: PacketFields, Hashable {
    var error = HCIStatus.success

    init() {}

    init(_ error: HCIStatus) { self.error = error }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("ErrorCode", &error)
    }
}

/// LL_REJECT_EXT_IND (2.4.2.18).
struct RejectExtendedIndication: PacketFields, Hashable {
    /// The opcode of the rejected PDU.
    var opcode = ControlOpcode(rawValue: 0)
    var error = HCIStatus.success

    init() {}

    init(_ opcode: ControlOpcode, _ error: HCIStatus) {
        self.opcode = opcode
        self.error = error
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RejectOpcode", &opcode)
        try coder.field("ErrorCode", &error)
    }
}

/// LL_UNKNOWN_RSP (2.4.2.8).
struct UnknownResponse: PacketFields, Hashable {
    /// The opcode of the unknown PDU.
    var opcode = ControlOpcode(rawValue: 0)

    init() {}

    init(_ opcode: ControlOpcode) { self.opcode = opcode }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("UnknownType", &opcode)
    }
}

/// LL_FEATURE_REQ, LL_FEATURE_RSP and LL_PERIPHERAL_FEATURE_REQ (2.4.2.9, 2.4.2.10, 2.4.2.15).
struct FeatureExchange: PacketFields, Hashable {
    var features: LEFeatures = []

    init() {}

    init(_ features: LEFeatures) { self.features = features }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("FeatureSet", &features)
    }
}

/// LL_VERSION_IND (2.4.2.13).
struct VersionIndication: PacketFields, Hashable {
    var version = SpecificationVersion(rawValue: 0)
    /// The company identifier of the manufacturer, assigned by the Bluetooth SIG.
    var company: UInt16 = 0
    /// The manufacturer's revision of the link layer.
    var subversion: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Version", &version)
        try coder.field("Company_Identifier", &company)
        try coder.field("Subversion", &subversion)
    }
}

/// LL_CONNECTION_PARAM_REQ and LL_CONNECTION_PARAM_RSP (2.4.2.16, 2.4.2.17).
struct ConnectionParameterRequest: PacketFields, Hashable {
    /// The minimum interval, in units of 1.25 ms.
    var intervalMin: UInt16 = 0
    /// The maximum interval, in units of 1.25 ms.
    var intervalMax: UInt16 = 0
    /// The peripheral latency: the number of events that the peripheral may skip.
    var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0
    /// The preferred divisor of the interval, in units of 1.25 ms; 0 for no preference.
    var preferredPeriodicity: UInt8 = 0
    /// The event counter to which the offsets are relative.
    var referenceCounter: UInt16 = 0
    /// The preferred offsets of the new anchor point, the best first; 0xFFFF for none.
    var offsets: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16) = (.max, .max, .max, .max, .max, .max)

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Interval_Min", &intervalMin)
        try coder.field("Interval_Max", &intervalMax)
        try coder.field("Latency", &latency)
        try coder.field("Timeout", &timeout)
        try coder.field("PreferredPeriodicity", &preferredPeriodicity)
        try coder.field("ReferenceConnEventCount", &referenceCounter)
        try coder.field("Offset0", &offsets.0)
        try coder.field("Offset1", &offsets.1)
        try coder.field("Offset2", &offsets.2)
        try coder.field("Offset3", &offsets.3)
        try coder.field("Offset4", &offsets.4)
        try coder.field("Offset5", &offsets.5)
    }

    /// Whether the fields are in range and consistent.
    var isValid: Bool {
        let fastest = LinkTiming(interval: intervalMin, latency: latency, timeout: timeout)
        let (a, b, c, d, e, f) = offsets
        return intervalMin <= intervalMax && fastest.isValid && slowest.isValid
            && UInt16(preferredPeriodicity) <= intervalMax
            && [a, b, c, d, e, f].allSatisfy { $0 == .max || $0 < intervalMax }
    }

    /// The timing with the maximum interval, which a central chooses.
    var slowest: LinkTiming { LinkTiming(interval: intervalMax, latency: latency, timeout: timeout) }

    /// Whether a link with this timing satisfies the parameters.
    func allows(_ timing: LinkTiming) -> Bool {
        intervalMin <= timing.interval && timing.interval <= intervalMax && latency == timing.latency
            && timeout == timing.timeout
    }

    static func == (a: Self, b: Self) -> Bool { a.encoded() == b.encoded() }

    func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}

/// LL_LENGTH_REQ and LL_LENGTH_RSP (2.4.2.21).
struct LengthExchange: PacketFields, Hashable {
    /// The maximum payload length that the sender can receive, in octets.
    var maxRxOctets: UInt16 = 0
    /// The maximum duration of a PDU that the sender can receive, in microseconds.
    var maxRxTime: UInt16 = 0
    /// The maximum payload length that the sender will send, in octets.
    var maxTxOctets: UInt16 = 0
    /// The maximum duration of a PDU that the sender will send, in microseconds.
    var maxTxTime: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("MaxRxOctets", &maxRxOctets)
        try coder.field("MaxRxTime", &maxRxTime)
        try coder.field("MaxTxOctets", &maxTxOctets)
        try coder.field("MaxTxTime", &maxTxTime)
    }
}

/// LL_PHY_REQ and LL_PHY_RSP (2.4.2.22).
struct PHYPreferences: PacketFields, Hashable {
    /// The PHYs on which the sender prefers to transmit.
    var tx: LEPHYs = []
    /// The PHYs on which the sender prefers to receive.
    var rx: LEPHYs = []

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("TX_PHYS", &tx)
        try coder.field("RX_PHYS", &rx)
    }
}

/// LL_PHY_UPDATE_IND (2.4.2.23).
struct PHYUpdateIndication: PacketFields, Hashable {
    /// The PHY on which the central will transmit; empty for no change.
    var centralToPeripheral: LEPHYs = []
    /// The PHY on which the peripheral will transmit; empty for no change.
    var peripheralToCentral: LEPHYs = []
    /// The event counter at which the change takes effect.
    var instant: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("PHY_C_TO_P", &centralToPeripheral)
        try coder.field("PHY_P_TO_C", &peripheralToCentral)
        try coder.field("Instant", &instant)
    }

    /// Whether neither PHY changes. If so, the instant is ignored.
    var changesNothing: Bool { centralToPeripheral.isEmpty && peripheralToCentral.isEmpty }
}

/// LL_MIN_USED_CHANNELS_IND (2.4.2.24).
struct MinimumUsedChannels: PacketFields, Hashable {
    /// The PHYs to which the minimum applies.
    var phys: LEPHYs = []
    /// The minimum number of channels that the peripheral requests.
    var channels: UInt8 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("PHYS", &phys)
        try coder.field("MinUsedChannels", &channels)
    }
}

/// LL_CLOCK_ACCURACY_REQ and LL_CLOCK_ACCURACY_RSP (2.4.2.28).
struct ClockAccuracyExchange: PacketFields, Hashable {
    /// The accuracy of the sender's sleep clock: 0 for 500 ppm to 7 for 20 ppm.
    var accuracy: UInt8 = 0

    init() {}

    init(_ accuracy: UInt8) { self.accuracy = accuracy }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SCA", &accuracy)
    }
}

/// LL_ENC_REQ (Core Vol 6 Part B 2.4.2.4).
struct EncryptionRequest: PacketFields, Hashable {
    /// Rand: identifies the key to the peripheral's host; 0 with LE Secure Connections.
    var random: UInt64 = 0
    /// EDIV: identifies the key to the peripheral's host; 0 with LE Secure Connections.
    var diversifier: UInt16 = 0
    /// SKD_C: the central's half of the session key diversifier.
    var keyDiversifier: UInt64 = 0
    /// IV_C: the central's half of the initialization vector.
    var vector: UInt32 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Rand", &random)
        try coder.field("EDIV", &diversifier)
        try coder.field("SKD_C", &keyDiversifier)
        try coder.field("IV_C", &vector)
    }
}

/// LL_ENC_RSP (2.4.2.5).
struct EncryptionResponse: PacketFields, Hashable {
    /// SKD_P: the peripheral's half of the session key diversifier.
    var keyDiversifier: UInt64 = 0
    /// IV_P: the peripheral's half of the initialization vector.
    var vector: UInt32 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SKD_P", &keyDiversifier)
        try coder.field("IV_P", &vector)
    }
}

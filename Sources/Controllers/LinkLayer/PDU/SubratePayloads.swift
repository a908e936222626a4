import BluetoothTypes

/// LL_SUBRATE_REQ (Core Vol 6 Part B 2.4.2.36).
struct SubrateRequest: PacketFields, Hashable {
    /// The maximum of the factor, and of its product with the latency plus 1 (4.5.1).
    static let maximumFactor: UInt16 = 500

    /// The minimum of the subrate factor, from 1 to 500.
    var factorMin: UInt16 = 1
    /// The maximum of the subrate factor, from 1 to 500.
    var factorMax: UInt16 = 1
    /// The maximum number of subrated events that the peripheral may skip.
    var maxLatency: UInt16 = 0
    /// The number of events that stay in use after one with data.
    var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0

    /// The parameters that a central accepts unless its host sets others: every event is used (Core Vol 4 Part E
    /// 7.8.123).
    static let initial = SubrateRequest(timeout: 3_200)

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SubrateFactorMin", &factorMin)
        try coder.field("SubrateFactorMax", &factorMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("ContinuationNumber", &continuation)
        try coder.field("Timeout", &timeout)
    }

    /// Whether the fields are in range and consistent (2.4.2.36; Core Vol 4 Part E 7.8.123).
    var isValid: Bool {
        factorMin >= 1 && factorMin <= factorMax && factorMax <= Self.maximumFactor
            && maxLatency <= 499 && Int(factorMax) * (Int(maxLatency) + 1) <= Int(Self.maximumFactor)
            && continuation < factorMax && (10...3_200).contains(timeout)
    }
}

/// LL_SUBRATE_IND (2.4.2.37).
struct SubrateIndication: PacketFields, Hashable {
    /// The factor: every `factor`-th event is used.
    var factor: UInt16 = 1
    /// The event counter of a used event.
    var base: UInt16 = 0
    /// The number of subrated events that the peripheral may skip.
    var latency: UInt16 = 0
    /// The number of events that stay in use after one with data.
    var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SubrateFactor", &factor)
        try coder.field("SubrateBaseEvent", &base)
        try coder.field("Latency", &latency)
        try coder.field("ContinuationNumber", &continuation)
        try coder.field("Timeout", &timeout)
    }
}

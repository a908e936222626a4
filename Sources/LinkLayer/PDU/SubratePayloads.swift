import BluetoothTypes

/// LL_SUBRATE_REQ (Core Vol 6 Part B 2.4.2.36).
struct SubrateRequest: PacketFields, Hashable {
    /// The smallest factor.
    var factorMin: UInt16 = 1
    /// The largest factor.
    var factorMax: UInt16 = 1
    /// Subrated events that the peripheral may skip, at most.
    var maxLatency: UInt16 = 0
    /// Events behind one with data that stay in use.
    var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0

    init() {}

    init(factorMin: UInt16, factorMax: UInt16, maxLatency: UInt16, continuation: UInt16, timeout: UInt16) {
        (self.factorMin, self.factorMax) = (factorMin, factorMax)
        (self.maxLatency, self.continuation, self.timeout) = (maxLatency, continuation, timeout)
    }

    /// What a central takes whose host has said nothing: every event (Core Vol 4 Part E 7.8.123).
    static let initial = SubrateRequest(factorMin: 1, factorMax: 1, maxLatency: 0, continuation: 0, timeout: 3_200)

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SubrateFactorMin", &factorMin)
        try coder.field("SubrateFactorMax", &factorMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("ContinuationNumber", &continuation)
        try coder.field("Timeout", &timeout)
    }

    /// Whether each field is in range and they go together (2.4.2.36; Core Vol 4 Part E 7.8.123).
    var isValid: Bool {
        factorMin >= 1 && factorMin <= factorMax && factorMax <= Subrating.maximumFactor
            && maxLatency <= 499 && Int(factorMax) * (Int(maxLatency) + 1) <= Int(Subrating.maximumFactor)
            && continuation < factorMax && (10...3_200).contains(timeout)
    }
}

/// LL_SUBRATE_IND (2.4.2.37).
struct SubrateIndication: PacketFields, Hashable {
    /// Every so many events are used.
    var factor: UInt16 = 1
    /// The counter of one that is.
    var base: UInt16 = 0
    /// Subrated events that the peripheral may skip.
    var latency: UInt16 = 0
    /// Events behind one with data that stay in use.
    var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0

    init() {}

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SubrateFactor", &factor)
        try coder.field("SubrateBaseEvent", &base)
        try coder.field("Latency", &latency)
        try coder.field("ContinuationNumber", &continuation)
        try coder.field("Timeout", &timeout)
    }
}

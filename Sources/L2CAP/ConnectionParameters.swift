import BluetoothTypes

/// What a peripheral asks for in a Connection Parameter Update Request (Core Vol 3 Part A 4.20).
package struct ConnectionParameters: PacketFields, Hashable, Sendable {
    /// The shortest connection interval, in units of 1.25 ms.
    package var intervalMinimum: UInt16 = 0
    /// The longest connection interval, in units of 1.25 ms.
    package var intervalMaximum: UInt16 = 0
    /// Connection events that the peripheral may leave out.
    package var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var timeout: UInt16 = 0

    package init() {}

    /// Parameters in the units of the specification.
    package init(intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16, timeout: UInt16) {
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.latency = latency
        self.timeout = timeout
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Interval_Min", &intervalMinimum)
        try coder.field("Interval_Max", &intervalMaximum)
        try coder.field("Latency", &latency)
        try coder.field("Timeout", &timeout)
    }

    /// Whether the specification allows them (Vol 3 Part A 4.20, Vol 4 Part E 7.8.18): intervals of 7.5 ms to 4 s, a
    /// latency below 500, a timeout of 100 ms to 32 s that outlasts two effective intervals. Others are never passed
    /// to a controller (AB-C10).
    package var isLegal: Bool {
        (6...3200).contains(intervalMinimum) && (6...3200).contains(intervalMaximum)
            && intervalMinimum <= intervalMaximum && latency <= 499 && (10...3200).contains(timeout)
            && Int(timeout) * 4 > (Int(latency) + 1) * Int(intervalMaximum)
    }
}

/// How a request for connection parameters ended.
package enum ParameterUpdateOutcome: Hashable, Sendable {
    /// The central will change the parameters, or says so (behaviour 3.30).
    case accepted
    /// The central keeps the parameters.
    case rejected
    /// The central does not know the command.
    case notUnderstood
    /// No answer came within ``L2CAPConnection/responseTimeout``.
    case timedOut
    /// Another request is under way.
    case busy
    /// This end is the central, which asks nobody, or the parameters are illegal.
    case notAllowed
    /// The link is gone.
    case closed
}

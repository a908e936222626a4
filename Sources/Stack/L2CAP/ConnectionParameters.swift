import BluetoothTypes

/// The fields of a Connection Parameter Update Request, which a peripheral sends (Core Vol 3 Part A 4.20).
package struct ConnectionParameters: PacketFields, Hashable, Sendable {
    /// The shortest connection interval, in units of 1.25 ms.
    package var intervalMinimum: UInt16 = 0
    /// The longest connection interval, in units of 1.25 ms.
    package var intervalMaximum: UInt16 = 0
    /// The peripheral latency: the number of connection events that the peripheral may skip.
    package var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var timeout: UInt16 = 0

    package init() {}

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

    /// Whether the specification allows the parameters (Vol 3 Part A 4.20, Vol 4 Part E 7.8.18).
    ///
    /// Intervals are 7.5 ms to 4 s, the latency is below 500, and the timeout is 100 ms to 32 s and longer than two
    /// effective intervals. Illegal parameters are never passed to a controller (AB-C10).
    package var isLegal: Bool {
        (6...3200).contains(intervalMinimum) && (6...3200).contains(intervalMaximum)
            && intervalMinimum <= intervalMaximum && latency <= 499 && (10...3200).contains(timeout)
            && Int(timeout) * 4 > (Int(latency) + 1) * Int(intervalMaximum)
    }
}

/// The outcome of a connection parameter update request.
package enum ParameterUpdateOutcome: Hashable, Sendable {
    /// The central accepted the parameters, although it may not apply them (behaviour 3.30).
    case accepted
    case rejected
    /// The central does not support the command.
    case notUnderstood
    /// The central did not answer within ``SignallingMachine/responseTimeout``.
    case timedOut
    /// Another request is pending.
    case busy
    /// This end is the central, which never sends the request, or the parameters are illegal.
    case notAllowed
    case closed
}

/// The GAP role of this end of a link.
package enum L2CAPRole: Sendable {
    /// The central, which decides on connection parameters.
    case central
    /// The peripheral, which may request connection parameters.
    case peripheral
}

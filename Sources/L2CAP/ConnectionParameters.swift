import BluetoothTypes

/// What a peripheral asks for in a Connection Parameter Update Request (Core Vol 3 Part A 4.20).
public struct ConnectionParameters: PacketFields, Hashable, Sendable {
    /// The shortest connection interval, in units of 1.25 ms.
    public var intervalMinimum: UInt16 = 0
    /// The longest connection interval, in units of 1.25 ms.
    public var intervalMaximum: UInt16 = 0
    /// Connection events that the peripheral may leave out.
    public var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    public var timeout: UInt16 = 0

    /// All zero.
    public init() {}

    /// Parameters in the units of the specification.
    public init(intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16, timeout: UInt16) {
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.latency = latency
        self.timeout = timeout
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Interval_Min", &intervalMinimum)
        try coder.field("Interval_Max", &intervalMaximum)
        try coder.field("Latency", &latency)
        try coder.field("Timeout", &timeout)
    }

    /// Whether the specification allows them (Vol 3 Part A 4.20, Vol 4 Part E 7.8.18): intervals of 7.5 ms to 4 s, a
    /// latency below 500, a timeout of 100 ms to 32 s that outlasts two effective intervals. Others are never passed
    /// to a controller (AB-C10).
    public var isLegal: Bool {
        (6...3200).contains(intervalMinimum) && (6...3200).contains(intervalMaximum)
            && intervalMinimum <= intervalMaximum && latency <= 499 && (10...3200).contains(timeout)
            && Int(timeout) * 4 > (Int(latency) + 1) * Int(intervalMaximum)
    }
}

/// Which requests for connection parameters Apple's systems follow as central (behaviours 3.27 and 3.29).
public struct AppleConnectionParameterRules: Hashable, Sendable {
    /// Whether a Human Interface Device service is connected, for which 11.25 ms is allowed.
    public var allowsHumanInterfaceDevice: Bool

    /// The rules, with or without the exception for input devices.
    public init(allowsHumanInterfaceDevice: Bool = false) {
        self.allowsHumanInterfaceDevice = allowsHumanInterfaceDevice
    }

    private static let fifteenMilliseconds = 12
    private static let elevenMilliseconds = 9
    private static let twoSeconds = 1600
    private static let sixSeconds = 4800

    /// Whether the rules accept `parameters`. Illegal ones they never do.
    public func accept(_ parameters: ConnectionParameters) -> Bool {
        let minimum = Int(parameters.intervalMinimum)
        let maximum = Int(parameters.intervalMaximum)
        let effective = maximum * (Int(parameters.latency) + 1)
        let isInputDevice = allowsHumanInterfaceDevice && minimum == Self.elevenMilliseconds
        let isShortest = minimum == Self.fifteenMilliseconds || isInputDevice
        return parameters.isLegal
            && parameters.latency <= 30
            && (600...1800).contains(parameters.timeout)
            && (isInputDevice || minimum >= Self.fifteenMilliseconds && minimum % Self.fifteenMilliseconds == 0)
            && minimum <= Self.twoSeconds
            && (maximum >= minimum + Self.fifteenMilliseconds || minimum == maximum && isShortest)
            && effective <= Self.sixSeconds
            // Units of 10 ms against units of 1.25 ms.
            && Int(parameters.timeout) * 8 > effective * 3
    }
}

/// How a request for connection parameters ended.
public enum ParameterUpdateOutcome: Hashable, Sendable {
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

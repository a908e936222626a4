import L2CAP

/// Which requests for connection parameters Apple's systems follow as central (behaviours 3.27 and 3.29).
package struct AppleConnectionParameterRules: Hashable, Sendable {
    /// Whether a Human Interface Device service is connected, for which 11.25 ms is allowed.
    package var allowsHumanInterfaceDevice: Bool

    /// The rules, with or without the exception for input devices.
    package init(allowsHumanInterfaceDevice: Bool = false) {
        self.allowsHumanInterfaceDevice = allowsHumanInterfaceDevice
    }

    private static let fifteenMilliseconds = 12
    private static let elevenMilliseconds = 9
    private static let twoSeconds = 1600
    private static let sixSeconds = 4800

    /// Whether the rules accept `parameters`. Illegal ones they never do.
    package func accept(_ parameters: ConnectionParameters) -> Bool {
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

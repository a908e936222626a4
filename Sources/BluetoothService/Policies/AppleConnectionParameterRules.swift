import L2CAP

/// The rules by which Apple's systems, as central, accept connection parameter requests (behaviours 3.27 to 3.29).
package struct AppleConnectionParameterRules: Hashable, Sendable {
    /// The edition of the rules, which changed over the years.
    package enum Edition: Hashable, Sendable {
        /// The rules before iOS 11.
        case first
        /// From iOS 11 to about 2022.
        case second
        /// The rules since about 2022.
        case current
    }

    package var edition: Edition
    /// Whether a Human Interface Device service is connected, for which 11.25 ms is allowed.
    package var allowsHumanInterfaceDevice: Bool

    /// Creates the rules of an edition, with or without the exception for input devices.
    package init(_ edition: Edition = .current, allowsHumanInterfaceDevice: Bool = false) {
        self.edition = edition
        self.allowsHumanInterfaceDevice = allowsHumanInterfaceDevice
    }

    private static let elevenMilliseconds = 9
    private static let fifteenMilliseconds = 12
    private static let twentyMilliseconds = 16
    private static let twoSeconds = 1600
    private static let sixSeconds = 4800

    /// Whether the rules accept `parameters`. They never accept parameters that violate the specification.
    package func accept(_ parameters: ConnectionParameters) -> Bool {
        let effective = Int(parameters.intervalMaximum) * (Int(parameters.latency) + 1)
        return parameters.isLegal
            && parameters.latency <= (edition == .first ? 4 : 30)
            && timeouts.contains(parameters.timeout)
            && acceptInterval(Int(parameters.intervalMinimum), Int(parameters.intervalMaximum))
            && effective <= (edition == .current ? Self.sixSeconds : Self.twoSeconds)
            // Units of 10 ms compared with units of 1.25 ms.
            && Int(parameters.timeout) * 8 > effective * 3
    }

    private var timeouts: ClosedRange<UInt16> {
        switch edition {
        case .first: 10...600
        case .second: 200...600
        case .current: 600...1800
        }
    }

    private func acceptInterval(_ minimum: Int, _ maximum: Int) -> Bool {
        guard edition != .first else {
            return minimum >= Self.twentyMilliseconds && maximum >= minimum + Self.twentyMilliseconds
        }
        let isInputDevice = allowsHumanInterfaceDevice && minimum == Self.elevenMilliseconds
        let isShortest = minimum == Self.fifteenMilliseconds || isInputDevice
        return (isInputDevice || minimum >= Self.fifteenMilliseconds && minimum % Self.fifteenMilliseconds == 0)
            && minimum <= Self.twoSeconds
            && (maximum >= minimum + Self.fifteenMilliseconds || minimum == maximum && isShortest)
    }
}

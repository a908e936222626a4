import L2CAP

/// The rules by which Apple's systems, as central, accept connection parameter requests (behaviours 3.27 to 3.29).
///
/// The numbers are those of the Accessory Design Guidelines, whose section "Connection Parameters" says that a request
/// against them may be rejected; Apple's engineers say that iOS does reject it (F-775811).
package struct AppleConnectionParameterRules: Hashable, Sendable {
    /// The edition of the rules, which changed over the years.
    package enum Edition: Hashable, Sendable, CaseIterable {
        /// The rules before iOS 11: the Bluetooth Accessory Design Guidelines of 2013.
        case first
        /// From iOS 11 to iOS 17: QA1931, and the Accessory Design Guidelines R11 (2019), R17 (2022) and R24.
        case second
        /// The rules since: quoted by Apple's engineers from February 2025 on, and the same in R30 (2026).
        case current
    }

    /// A rule that parameters break, with the bound.
    package enum Refusal: Hashable, Sendable, CustomStringConvertible {
        /// The specification does not allow the parameters (``ConnectionParameters/isLegal``).
        case illegal
        case latency(most: Int)
        /// The supervision timeout is too short or too long; in units of 10 ms.
        case timeout(ClosedRange<UInt16>)
        /// The shortest interval is out of bounds; in units of 1.25 ms.
        case minimum(ClosedRange<Int>)
        /// The shortest interval is no multiple of 15 ms.
        case multiple
        /// The longest interval is too close to the shortest; in units of 1.25 ms.
        case width(least: Int)
        /// The longest interval is too long with the latency; in units of 1.25 ms.
        case effectiveInterval(most: Int)
        case shortTimeout

        /// The rule: a clause that follows "because".
        package var description: String {
            switch self {
            case .illegal: "the Bluetooth specification does not allow them"
            case .latency(let most): "the latency is above \(most)"
            case .timeout(let range):
                "the supervision timeout is not from \(seconds(range.lowerBound)) to \(seconds(range.upperBound)) s"
            case .minimum(let range) where range.upperBound == Edition.longest:
                "the shortest interval is below \(milliseconds(range.lowerBound)) ms"
            case .minimum(let range):
                "the shortest interval is not from \(milliseconds(range.lowerBound)) ms to 2 s"
            case .multiple: "the shortest interval is no multiple of 15 ms"
            case .width(let least): "the longest interval is not \(milliseconds(least)) ms above the shortest"
            case .effectiveInterval(let most):
                "the longest interval times latency + 1 is above \(most / 800) s"
            case .shortTimeout: "the supervision timeout is not longer than 3 × longest interval × (latency + 1)"
            }
        }

        private func milliseconds(_ units: Int) -> String { tidy(Double(units) * 1.25) }
        private func seconds(_ units: UInt16) -> String { tidy(Double(units) / 100) }
    }

    package var edition: Edition
    /// Whether a Human Interface Device service is connected, for which 11.25 ms is allowed.
    package var allowsHumanInterfaceDevice: Bool
    /// Whether the shortest interval may be requested alone, without a range (behaviour 3.31).
    private let allowsShortestAlone: Bool

    /// Creates the rules of an edition, with or without the exception for input devices.
    package init(_ edition: Edition = .current, allowsHumanInterfaceDevice: Bool = false) {
        self.init(edition, allowsHumanInterfaceDevice: allowsHumanInterfaceDevice, allowsShortestAlone: true)
    }

    private init(_ edition: Edition, allowsHumanInterfaceDevice: Bool, allowsShortestAlone: Bool) {
        self.edition = edition
        self.allowsHumanInterfaceDevice = allowsHumanInterfaceDevice && allowsShortestAlone
        self.allowsShortestAlone = allowsShortestAlone
    }

    /// Creates the rules of a version, with or without the exception for input devices.
    init(of version: SystemVersion, allowsHumanInterfaceDevice: Bool) {
        self.init(
            Edition.allCases.first { version.has($0.rule) } ?? .current,
            allowsHumanInterfaceDevice: allowsHumanInterfaceDevice,
            allowsShortestAlone: !version.has(.noShortestIntervalAlone)
        )
    }

    private static let elevenMilliseconds = 9

    /// Whether the rules accept `parameters`. They never accept parameters that violate the specification.
    package func accept(_ parameters: ConnectionParameters) -> Bool { refusals(of: parameters).isEmpty }

    /// The rules that `parameters` break; none if they are accepted.
    package func refusals(of parameters: ConnectionParameters) -> [Refusal] {
        guard parameters.isLegal else { return [.illegal] }
        let effective = Int(parameters.intervalMaximum) * (Int(parameters.latency) + 1)
        var refusals = intervalRefusals(Int(parameters.intervalMinimum), Int(parameters.intervalMaximum))
        if parameters.latency > edition.latency { refusals.append(.latency(most: Int(edition.latency))) }
        if !edition.timeouts.contains(parameters.timeout) { refusals.append(.timeout(edition.timeouts)) }
        if effective > edition.effectiveInterval {
            refusals.append(.effectiveInterval(most: edition.effectiveInterval))
        }
        // Units of 10 ms compared with units of 1.25 ms.
        if Int(parameters.timeout) * 8 <= effective * 3 { refusals.append(.shortTimeout) }
        return refusals
    }

    private func intervalRefusals(_ minimum: Int, _ maximum: Int) -> [Refusal] {
        let (step, isShortest) = (edition.step, isShortest(minimum))
        var refusals: [Refusal] = []
        if !isShortest, !edition.minimums.contains(minimum) { refusals.append(.minimum(edition.minimums)) }
        if !isShortest, edition != .first, minimum % step != 0 { refusals.append(.multiple) }
        if maximum < minimum + step, minimum != maximum || !isShortest { refusals.append(.width(least: step)) }
        return refusals
    }

    /// Whether this is the shortest of all intervals, which may be requested alone, without a range.
    private func isShortest(_ minimum: Int) -> Bool {
        edition != .first && allowsShortestAlone
            && (minimum == edition.step || allowsHumanInterfaceDevice && minimum == Self.elevenMilliseconds)
    }

    /// The parameters closest to the requested ones that the rules accept, for advice.
    package func nearest(to wanted: ConnectionParameters) -> ConnectionParameters {
        if accept(wanted) { return wanted }
        // An effective interval must also leave room for a timeout of more than three of it.
        let effective = min(edition.effectiveInterval, (Int(edition.timeouts.upperBound) * 8 - 1) / 3)
        let step = edition.step
        var minimum = Int(wanted.intervalMinimum)
        if allowsHumanInterfaceDevice, edition != .first, minimum <= Self.elevenMilliseconds {
            minimum = Self.elevenMilliseconds
        } else {
            minimum = max(edition.minimums.lowerBound, min(minimum, edition.minimums.upperBound, effective - step))
            // Down to a multiple, unless that is too short.
            if edition != .first { minimum = max(step, minimum / step * step) }
        }
        let isFixed = wanted.intervalMinimum == wanted.intervalMaximum && isShortest(minimum)
        let maximum = isFixed ? minimum : min(max(Int(wanted.intervalMaximum), minimum + step), effective, 3200)
        let latency = min(Int(wanted.latency), Int(edition.latency), effective / maximum - 1)
        let timeout = max(Int(wanted.timeout), maximum * (latency + 1) * 3 / 8 + 1, Int(edition.timeouts.lowerBound))
        return ConnectionParameters(
            intervalMinimum: UInt16(clamping: minimum),
            intervalMaximum: UInt16(clamping: maximum),
            latency: UInt16(clamping: latency),
            timeout: min(UInt16(clamping: timeout), edition.timeouts.upperBound)
        )
    }

    /// Why `parameters` are refused and what would be accepted, for the accessory's developer: a clause.
    package func explanation(of parameters: ConnectionParameters) -> String {
        let reasons = refusals(of: parameters).map(\.description).joined(separator: ", and ")
        return "\(words(parameters)), because \(reasons); \(words(nearest(to: parameters))) would be accepted"
    }

    private func words(_ parameters: ConnectionParameters) -> String {
        let (least, most) = (Double(parameters.intervalMinimum) * 1.25, Double(parameters.intervalMaximum) * 1.25)
        let interval = least == most ? tidy(least) : "\(tidy(least)) to \(tidy(most))"
        return "interval \(interval) ms, latency \(parameters.latency), timeout \(Int(parameters.timeout) * 10) ms"
    }
}

/// Formats a number without a fraction of zero.
private func tidy(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
}

extension AppleConnectionParameterRules.Edition {
    fileprivate var rule: DatedRule {
        switch self {
        case .first: .parametersOfFirstEdition
        case .second: .parametersOfSecondEdition
        case .current: .parametersOfCurrentEdition
        }
    }

    private static let twoSeconds = 1600
    private static let sixSeconds = 4800
    /// The longest interval of the specification, in units of 1.25 ms.
    fileprivate static let longest = 3200

    fileprivate var latency: UInt16 { self == .first ? 4 : 30 }

    /// The supervision timeouts, in units of 10 ms.
    fileprivate var timeouts: ClosedRange<UInt16> {
        switch self {
        case .first: 10...600
        case .second: 200...600
        case .current: 600...1800
        }
    }

    /// The shortest interval and the distance of the longest one, in units of 1.25 ms.
    fileprivate var step: Int { self == .first ? 16 : 12 }

    /// The values for the shortest interval, in units of 1.25 ms.
    fileprivate var minimums: ClosedRange<Int> { step...(self == .first ? Self.longest : Self.twoSeconds) }

    /// The longest effective interval, in units of 1.25 ms.
    fileprivate var effectiveInterval: Int { self == .current ? Self.sixSeconds : Self.twoSeconds }
}

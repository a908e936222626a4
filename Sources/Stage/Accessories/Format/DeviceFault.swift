import BluetoothTypes

/// A fault of a device or of its surroundings, as accessory files, steps and command lines name it: `slow-answers=2`.
public struct DeviceFault: Hashable, Sendable {
    /// The kinds of faults.
    public enum Kind: String, CaseIterable, Sendable {
        /// No other device hears it; on a controller, Bluetooth is off.
        case outOfRange = "out-of-range"
        /// Packets get lost in both directions.
        case lossy
        /// One channel receives nothing.
        case jammedChannel = "jammed-channel"
        /// The battery level is low.
        case lowBattery = "low-battery"
        /// It starts with its initial values, and keeps its bonds.
        case batteryReplaced = "battery-replaced"
        /// It starts again, without notice.
        case reboot
        /// It starts again without bonds.
        case factoryReset = "factory-reset"
        /// Its attribute table has changed.
        case newFirmware = "new-firmware"
        /// It has forgotten its bonds; the peers have not.
        case bondLost = "bond-lost"
        /// Its private address changes.
        case newAddress = "new-address"
        /// Answers to requests come late.
        case slowAnswers = "slow-answers"
        /// Answers to requests never come.
        case noAnswers = "no-answers"
        /// Answers have an unknown opcode.
        case malformedAnswers = "malformed-answers"
        /// Answers lack their last octet.
        case shortAnswers = "short-answers"
        /// Answers claim to be longer than they are.
        case longAnswers = "long-answers"
        /// Answers are this ATT error.
        case attError = "att-error"
        /// The exchange of the MTU is refused.
        case mtuRefused = "mtu-refused"
        /// Subscribers get their values many times a second.
        case notificationFlood = "notification-flood"
        /// It requests other connection parameters many times a second.
        case parameterFlood = "parameter-flood"
        /// Its user declines to pair.
        case userDeclines = "user-declines"
        /// Its app has crashed.
        case appKilled = "app-killed"
        /// Its app is replaced by a new version.
        case appUpgraded = "app-upgraded"
        /// Its app is suspended in the background.
        case appSuspended = "app-suspended"
        /// Airplane mode is on.
        case airplaneMode = "airplane-mode"
        /// It has restarted, and waits for its passcode.
        case locked
    }

    /// The kind of the fault.
    public let kind: Kind
    /// The number after the name: of percent, seconds, and so on. For kinds without one it is 0.
    public let value: Double

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - kind: The kind of the fault.
    ///   - value: The number; nil for the usual one of the kind.
    public init(_ kind: Kind, _ value: Double? = nil) {
        self.kind = kind
        self.value = value ?? kind.number?.usual ?? 0
    }

    /// Parses a name, with `=` and a number if the fault has one.
    ///
    /// - Parameter text: The text, such as `reboot`, `lossy=0.5` or `slow-answers=2s`. The unit may be left out.
    /// - Throws: The mistake, with the names or the range that are allowed.
    public init(_ text: String) throws(AccessoryError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, let kind = Kind(rawValue: name) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw AccessoryError("", "there is no fault \(text.quotedName)", "use one of \(names)")
        }
        guard parts.count == 2 else {
            self.init(kind)
            return
        }
        guard let number = kind.number else {
            throw AccessoryError("", "the fault \(name) has no number", "remove \("=\(parts[1])".quotedName)")
        }
        let digits = parts[1].hasSuffix(number.symbol) ? parts[1].dropLast(number.symbol.count) : parts[1][...]
        guard let value = Double(digits), number.range.contains(value) else {
            let (low, high) = (number.range.lowerBound.shortText, number.range.upperBound.shortText)
            throw AccessoryError(
                "",
                "\(parts[1].quotedName) is no number that the fault \(name) can have",
                "write \(number.unit) from \(low) to \(high)"
            )
        }
        self.init(kind, value)
    }

    /// The name, with the number and its unit if it is not the usual one.
    public var text: String {
        guard let number = kind.number, value != number.usual else { return kind.rawValue }
        return "\(kind.rawValue)=\(value.shortText)\(number.symbol)"
    }
}

extension DeviceFault.Kind {
    /// The number that a fault can have.
    package struct Number: Sendable {
        package let unit: String
        /// The unit behind the number; empty for none.
        var symbol = ""
        package let usual: Double
        package let range: ClosedRange<Double>
    }

    /// The number of the kind; nil for kinds without one.
    package var number: Number? {
        switch self {
        case .lossy: Number(unit: "a share of packets", usual: 0.5, range: 0...1)
        case .jammedChannel: Number(unit: "a channel", usual: 37, range: 0...39)
        case .lowBattery: Number(unit: "percent", symbol: "%", usual: 5, range: 0...100)
        case .slowAnswers: Number(unit: "seconds", symbol: "s", usual: 5, range: 0...3_600)
        case .attError: Number(unit: "an error code", usual: 14, range: 1...255)
        case .notificationFlood, .parameterFlood:
            Number(unit: "times a second", symbol: "/s", usual: 50, range: 1...1_000)
        default: nil
        }
    }

    /// Whether only a simulated world can have the fault, not a controller.
    package var needsWorld: Bool {
        switch self {
        case .lossy, .jammedChannel, .userDeclines, .appKilled, .appUpgraded, .appSuspended, .locked: true
        default: false
        }
    }

    /// The fault in words, for help.
    package var summary: String {
        switch self {
        case .outOfRange: "no other device hears it; on a controller, Bluetooth is off"
        case .lossy: "packets get lost in both directions"
        case .jammedChannel: "one channel receives nothing"
        case .lowBattery: "the battery level is low"
        case .batteryReplaced: "it starts with its initial values, and keeps its bonds"
        case .reboot: "it starts again, without notice"
        case .factoryReset: "it starts again without bonds"
        case .newFirmware: "its attribute table has changed"
        case .bondLost: "it has forgotten its bonds; the peers have not"
        case .newAddress: "its private address changes"
        case .slowAnswers: "answers come late"
        case .noAnswers: "answers never come"
        case .malformedAnswers: "answers have an unknown opcode"
        case .shortAnswers: "answers lack their last octet"
        case .longAnswers: "answers claim to be longer than they are"
        case .attError: "answers are this ATT error"
        case .mtuRefused: "the exchange of the MTU is refused"
        case .notificationFlood: "subscribers get their values many times a second"
        case .parameterFlood: "it requests other connection parameters many times a second"
        case .userDeclines: "its user declines to pair"
        case .appKilled: "its app has crashed"
        case .appUpgraded: "its app is replaced by a new version"
        case .appSuspended: "its app is suspended in the background"
        case .airplaneMode: "airplane mode is on"
        case .locked: "it has restarted, and waits for its passcode"
        }
    }

    /// The name, with the unit of its number, for help.
    package var form: String {
        number.map { "\(rawValue)[=\($0.usual.shortText)\($0.symbol)]" } ?? rawValue
    }
}

/// A fault with the time for which it lasts.
public struct ScheduledFault: Hashable, Sendable {
    /// The fault that begins.
    public var fault: DeviceFault
    /// The time at which it begins: since the start, or since the write that triggers it.
    public var start: Duration
    /// The time at which it ends; nil for never.
    public var end: Duration?
    /// The ID or the UUID of the characteristic whose writes trigger it; nil for none.
    public var trigger: String?

    /// Creates a fault from the start on, unless other times are given.
    public init(_ fault: DeviceFault, start: Duration = .zero, end: Duration? = nil, trigger: String? = nil) {
        self.fault = fault
        self.start = start
        self.end = end
        self.trigger = trigger
    }

    /// Parses a fault of a command line: `NAME[=NUMBER][@START[-END]]`, with seconds.
    ///
    /// - Parameter text: The text, such as `slow-answers=2@10-20`.
    /// - Throws: The first mistake.
    public init(_ text: String) throws(AccessoryError) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        self.init(try DeviceFault(parts.first ?? ""))
        guard parts.count == 2 else { return }
        let times = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        let range = 0...AccessoryLimits.longestInterval
        guard (1...2).contains(times.count), let start = times[0], range.contains(start) else {
            throw Self.invalidTimes(parts[1])
        }
        self.start = .microseconds(Int64(start * 1_000_000))
        guard times.count == 2 else { return }
        guard let end = times[1], range.contains(end), end > start else { throw Self.invalidTimes(parts[1]) }
        self.end = .microseconds(Int64(end * 1_000_000))
    }

    private static func invalidTimes(_ text: String) -> AccessoryError {
        AccessoryError("", "\(text.quotedName) are no times", "write seconds, such as @10 or @10-20")
    }
}

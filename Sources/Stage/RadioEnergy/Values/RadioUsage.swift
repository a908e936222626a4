import LinkLayer

/// The use of a radio: the time on the air by PHY and power, and how often it started.
///
/// All amounts are integers. A usage can be split into parts that add up to it.
public struct RadioUsage: Hashable, Sendable {
    /// A quantity of a usage.
    enum Amount: Hashable, Sendable {
        /// Time spent transmitting on a PHY, in microseconds.
        case sending(RadioPHY)
        /// Time spent transmitting at a power in dBm, in microseconds.
        case sendingAt(dBm: Int8)
        /// Time spent listening, in microseconds.
        case listening(RadioPHY.Modulation)
        /// The number of frames transmitted, each after a ramp-up of the transmitter.
        case transmissions
        /// The number of times that the receiver was started or retuned.
        case listens
        /// Time within events without transmitting or listening, in microseconds.
        case idle
        /// The number of events for which the processor woke up.
        case events
    }

    private(set) var amounts: [Amount: Int64] = [:]

    /// Creates a usage of nothing.
    public init() {}

    /// Reads or changes an amount. Amounts of zero are not stored, so that equal usages are equal.
    subscript(amount: Amount) -> Int64 {
        get { amounts[amount] ?? 0 }
        set { amounts[amount] = newValue == 0 ? nil : newValue }
    }

    /// The time spent transmitting.
    public var sending: Duration { .microseconds(RadioPHY.allCases.reduce(0) { $0 + self[.sending($1)] }) }
    /// The time spent listening.
    public var listening: Duration {
        .microseconds(RadioPHY.Modulation.allCases.reduce(0) { $0 + self[.listening($1)] })
    }
    /// The time within events without transmitting or listening.
    public var idle: Duration { .microseconds(self[.idle]) }
    /// The number of frames transmitted.
    public var transmissions: Int { Int(self[.transmissions]) }
    /// The number of times that the receiver was started or retuned.
    public var listens: Int { Int(self[.listens]) }
    /// The number of events for which the processor woke up.
    public var events: Int { Int(self[.events]) }
    /// Whether nothing was used.
    public var isEmpty: Bool { amounts.isEmpty }

    /// Returns the time spent transmitting on a PHY.
    public func sending(on phy: RadioPHY) -> Duration { .microseconds(self[.sending(phy)]) }
    /// Returns the time spent listening for a modulation.
    public func listening(for modulation: RadioPHY.Modulation) -> Duration {
        .microseconds(self[.listening(modulation)])
    }

    /// Returns the sum of two usages.
    public static func + (a: RadioUsage, b: RadioUsage) -> RadioUsage {
        var sum = a
        sum += b
        return sum
    }

    /// Adds each amount of a usage.
    public static func += (a: inout RadioUsage, b: RadioUsage) {
        for (amount, value) in b.amounts { a[amount] += value }
    }

    /// Splits the usage into a number of parts that add up to it.
    ///
    /// The parts are equal, except that what cannot be divided goes to the first ones, one unit each.
    func split(among count: Int) -> [RadioUsage] {
        guard count > 1 else { return [self] }
        var parts = Array(repeating: RadioUsage(), count: count)
        for (amount, value) in amounts {
            let (share, rest) = value.quotientAndRemainder(dividingBy: Int64(count))
            for index in parts.indices { parts[index][amount] = share + (index < abs(rest) ? rest.signum() : 0) }
        }
        return parts
    }
}

extension RadioUsage {
    /// Creates the usage that a virtual controller has accounted for.
    ///
    /// - Parameters:
    ///   - time: The account.
    ///   - powers: The transmit powers of the controller's radio node in dBm, in the node's order.
    package init(_ time: RadioTime, powers: [Int8]) {
        for (index, phy) in RadioPHY.allCases.enumerated() {
            self[.sending(phy)] = time.breakdown.sendingByPHY[index]
        }
        for (index, power) in powers.enumerated() {
            self[.sendingAt(dBm: power)] = time.breakdown.sendingByPower[index]
        }
        for (index, modulation) in RadioPHY.Modulation.allCases.enumerated() {
            self[.listening(modulation)] = time.breakdown.listeningByModulation[index]
        }
        self[.transmissions] = Int64(time.air.framesSent)
        self[.listens] = time.breakdown.listens
        (self[.idle], self[.events]) = (time.idle, time.events)
    }

    /// Adds a transmission of a duration in microseconds.
    package mutating func transmit(_ microseconds: Int64, on phy: RadioPHY, dBm: Int8, frames: Int64 = 1) {
        self[.sending(phy)] += microseconds
        self[.sendingAt(dBm: dBm)] += microseconds
        self[.transmissions] += frames
    }

    /// Adds listening of a duration in microseconds.
    package mutating func listen(_ microseconds: Int64, for modulation: RadioPHY.Modulation, starts: Int64 = 1) {
        self[.listening(modulation)] += microseconds
        self[.listens] += starts
    }

    /// Adds events with an idle time in microseconds.
    package mutating func wake(_ events: Int64 = 1, idle: Int64 = 0) {
        self[.events] += events
        self[.idle] += idle
    }
}

import EventLoops

/// A source of interference other than Bluetooth: a Wi-Fi network, a microwave oven, a jammer.
///
/// It transmits one burst in each period, at a random place within the period, so that it is on the air for its
/// ``share`` of the time. The timing of the bursts depends only on the radio's seed, not on which nodes listen.
public struct Interference: Hashable, Sendable {
    /// The shortest period, in microseconds. With a shorter one, a single frame would span too many periods.
    static let shortestPeriod: Int64 = 100

    /// The position of the source.
    public var position: Position
    /// The transmit power in one Bluetooth channel, in dBm.
    public var power: Double
    /// The affected channels. A burst occupies all of them at once.
    public var channels: RadioChannels
    /// The duty cycle, 0 to 1.
    public var share: Double
    /// The average time from one burst to the next; at least 100 microseconds.
    public var period: Duration

    /// Creates a source of interference. By default it transmits continuously on all channels.
    ///
    /// - Parameters:
    ///   - position: The position of the source.
    ///   - power: The transmit power in one Bluetooth channel, in dBm.
    ///   - channels: The affected channels.
    ///   - share: The duty cycle, 0 to 1.
    ///   - period: The average time from one burst to the next; at least 100 microseconds.
    public init(
        at position: Position = Position(),
        power: Double,
        channels: RadioChannels = .all,
        share: Double = 1,
        period: Duration = .milliseconds(5)
    ) {
        self.position = position
        self.power = power
        self.channels = channels
        self.share = share
        self.period = period
    }

    /// Creates the interference of a Wi-Fi network on one of the IEEE 802.11 channels 1 to 13 of the 2.4 GHz band.
    ///
    /// Channel 1 is centred on 2412 MHz, each further channel 5 MHz higher, and the signal extends 9 MHz to either
    /// side. Channels 1, 6 and 11 leave the three primary advertising channels alone.
    ///
    /// - Parameters:
    ///   - channel: The Wi-Fi channel number, clamped to 1 through 13.
    ///   - position: The position of the source.
    ///   - power: The total transmit power in dBm. A Bluetooth channel of 2 MHz receives a tenth of it.
    ///   - share: The duty cycle, 0 to 1.
    public static func wifi(
        channel: Int,
        at position: Position = Position(),
        power: Double = 20,
        share: Double
    ) -> Interference {
        let centre = 2_407 + 5 * min(max(channel, 1), 13)
        return Interference(
            at: position,
            power: power - 10,
            channels: RadioChannels(megahertz: centre - 9...centre + 9),
            share: share,
            period: .milliseconds(4)
        )
    }
}

/// The bursts of an ``Interference`` over time. They are computed on demand for any instant, so the process needs no
/// timer.
struct InterferenceProcess {
    let source: Interference
    private let seed: UInt64
    private let period: Int64
    private let burst: Int64

    init(_ source: Interference, seed: UInt64) {
        self.source = source
        self.seed = seed
        period = max(source.period.microseconds, Interference.shortestPeriod)
        // `NaN` counts as a share of 0.
        burst = source.share > 0 ? Int64(Double(period) * min(source.share, 1)) : 0
    }

    /// Whether the source transmits at any time in `start..<end`, in microseconds.
    func isOn(from start: Int64, to end: Int64) -> Bool {
        guard burst > 0, start < end else { return false }
        if burst >= period { return true }
        return (start / period...(end - 1) / period).contains { number in
            let begin = number * period + offset(number)
            return begin < end && start < begin + burst
        }
    }

    /// The offset of a burst within its period: a hash of the period's number (the SplitMix64 step).
    private func offset(_ number: Int64) -> Int64 {
        var z = seed &+ UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((z ^ (z >> 31)) % UInt64(period - burst + 1))
    }
}

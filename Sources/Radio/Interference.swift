import EventLoops

/// Something that is no Bluetooth and disturbs it: a Wi-Fi network, a microwave oven, a jammer.
///
/// It sends in bursts, one in each period and somewhere in it, so that it is on the air for its share of the time. Where the
/// bursts are follows from the radio's seed, not from who listens.
public struct Interference: Hashable, Sendable {
    /// Periods are not shorter than this, in microseconds: a frame would meet too many of them.
    static let shortestPeriod: Int64 = 100

    /// Where it stands.
    public var position: Position
    /// What it sends into one Bluetooth channel, in dBm.
    public var power: Double
    /// The channels that it is on, all at the same time.
    public var channels: RadioChannels
    /// The part of the time, 0 to 1, that it is on the air.
    public var share: Double
    /// From one burst to the next, on average; 100 microseconds at least.
    public var period: Duration

    /// A source of interference; one that never rests and is everywhere unless it is said.
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

    /// A Wi-Fi network on one of the channels 1 to 13 of IEEE 802.11 in this band: 2412 MHz and 5 MHz more for each,
    /// with 9 MHz on either side. Channels 1, 6 and 11 leave the three primary advertising channels alone.
    ///
    /// - Parameters:
    ///   - channel: The number that Wi-Fi gives to the channel.
    ///   - power: What it sends altogether, in dBm. A Bluetooth channel of 2 MHz gets a tenth of it.
    ///   - share: The part of the time that it is busy.
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

/// An ``Interference`` with its bursts in time. Any moment can be asked about: nothing is to be done while time passes.
struct InterferenceProcess {
    let source: Interference
    private let seed: UInt64
    private let period: Int64
    private let burst: Int64

    init(_ source: Interference, seed: UInt64) {
        self.source = source
        self.seed = seed
        period = max(source.period.microseconds, Interference.shortestPeriod)
        // A share that is no number is none.
        burst = source.share > 0 ? Int64(Double(period) * min(source.share, 1)) : 0
    }

    /// Whether it is on the air at some time from `start` on and before `end`, in microseconds.
    func isOn(from start: Int64, to end: Int64) -> Bool {
        guard burst > 0, start < end else { return false }
        if burst >= period { return true }
        return (start / period...(end - 1) / period).contains { number in
            let begin = number * period + offset(number)
            return begin < end && start < begin + burst
        }
    }

    /// How far into its period a burst begins: a hash of the period's number, which is SplitMix64's step.
    private func offset(_ number: Int64) -> Int64 {
        var z = seed &+ UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((z ^ (z >> 31)) % UInt64(period - burst + 1))
    }
}

import BluetoothTypes
import Cryptography
import EventLoops
import HCI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Measures the steps of a subevent as one of the two devices.
///
/// The tones have the phase and the amplitude of ``SoundingPaths``, and the noise of the receiver. The oscillators of
/// the two devices have another phase in each step, which cancels when the results of both are multiplied. The chance
/// comes from the key of the random bits, so that one seed gives the same results.
struct SoundingMeter {
    /// The amplitude of a tone that is received with the reference power, of 2,047 possible.
    static let amplitude = 1_000.0
    /// The gain of a tone's narrow band over the noise floor of 1 MHz, in dB: 40 µs are 25 kHz.
    static let toneGain = 16.0
    /// The best signal-to-noise ratio of a tone, in dB, which the phase noise of the oscillators limits.
    static let maximumRatio = 35.0
    /// The standard deviation of a time of arrival with a strong signal, in nanoseconds.
    static let timeDeviation = 5.0
    /// The maximum deviation of the reflector's answer from its nominal time, in nanoseconds.
    static let turnaround = 20.0

    /// The distance between two antennas of a device, which stand in a row to the east of its position, in metres.
    static let spacing = 0.05

    /// The ways between the antennas of each path.
    private let paths: [SoundingPaths]
    private let role: LESoundingRole
    private let strength: Double
    private let ratio: Double
    /// The relative frequency of the peer, in parts per million.
    private let offset: Double
    private let seed: UInt64

    /// Creates the meter of `own`; nil if the signal is too weak, or an end is missing.
    init?(
        _ own: SoundingPresence?,
        _ peer: SoundingPresence,
        _ antennas: LESoundingAntennas,
        as role: LESoundingRole
    ) {
        guard let own else { return nil }
        let radio = own.node.radio
        let (first, second) = role == .initiator ? (own, peer) : (peer, own)
        // The channel is the same in both directions.
        let places = { (end: SoundingPresence, antenna: Int) in
            var position = end.node.position
            position.x += Double(antenna) * Self.spacing
            return position
        }
        paths = antennas.paths.map { radio.soundingPaths(from: places(first, $0), to: places(second, $1)) }
        strength = peer.power + paths[0].gain
        guard radio.isReceivable(strength, channel: 0) else { return nil }
        let propagation = radio.configuration.propagation
        ratio = min(strength - propagation.noiseFloor + Self.toneGain, Self.maximumRatio)
        offset = own.drift - peer.drift
        seed = own.key.high ^ own.key.low &* 31 ^ UInt64(own.procedure) << 32 ^ UInt64(own.subevent)
        self.role = role
    }

    var reportedStrength: Int8 { reportedRSSI(strength) }

    func measure(_ step: SoundingPlan.Step) -> LESoundingStep {
        // What both devices share, and the noise of this one.
        let common = RandomSource(seed: seed ^ UInt64(step.number) << 16)
        let noise = RandomSource(seed: common.next() ^ UInt64(role.rawValue + 1))
        let data =
            switch step.mode {
            case 0: calibration().encoded()
            case 1: time(common, noise).encoded()
            case 2: tones(step, common, noise).encoded()
            default: LESoundingMode3(time(common, noise), tones(step, common, noise)).encoded()
            }
        return LESoundingStep(mode: step.mode, channel: step.channel, data: data)
    }

    private func calibration() -> LESoundingMode0 {
        let units = Int16((offset * 100).rounded()) & 0x7FFF
        return LESoundingMode0(
            rssi: reportedStrength,
            antenna: 1,
            frequencyOffset: role == .initiator ? UInt16(bitPattern: units) : nil
        )
    }

    private func time(_ common: RandomSource, _ noise: RandomSource) -> LESoundingMode1 {
        let turnaround = (common.unit() * 2 - 1) * Self.turnaround
        let deviation = Self.timeDeviation * pow(10, max(0, 30 - ratio) / 20)
        let flight = role == .initiator ? 2e9 * paths[0].delay : 0
        let nanoseconds = flight + turnaround + deviation * noise.gaussian()
        let units = Int16(max(-32_767, min(32_767, (nanoseconds * 2).rounded())))
        return LESoundingMode1(rssi: reportedStrength, time: units, antenna: 1)
    }

    private func tones(
        _ step: SoundingPlan.Step,
        _ common: RandomSource,
        _ noise: RandomSource
    ) -> LESoundingMode2 {
        let angle = common.unit() * 2 * .pi * (role == .initiator ? 1 : -1)
        let scale = Self.amplitude / pow(10, paths[0].gain / 20)
        let ideal = LESoundingMode2.order(step.permutation, of: paths.count).map { path in
            let response = paths[path].response(step.channel)
            let (i, q) = (response.i * scale, response.q * scale)
            return (i: i * cos(angle) - q * sin(angle), q: i * sin(angle) + q * cos(angle))
        }
        let deviation = Self.amplitude * pow(10, -ratio / 20) / 2.0.squareRoot()
        func part(_ value: Double) -> Int {
            let sum = (value + deviation * noise.gaussian()).rounded()
            return Int(max(Double(LESoundingTone.range.lowerBound), min(Double(LESoundingTone.range.upperBound), sum)))
        }
        let quality: UInt8 = ratio >= 15 ? 0 : ratio >= 8 ? 1 : 2
        let tones = ideal.map { LESoundingTone(i: part($0.i), q: part($0.q), quality: quality) }
        // The peer sends in the extension slot as drawn: bits 4 and 5 tell whether a tone is expected there.
        let isSent = step.extensions[role == .initiator ? 1 : 0]
        // It is that of the last path.
        let last = ideal[ideal.count - 1]
        let extra = LESoundingTone(
            i: isSent ? part(last.i) : 0,
            q: isSent ? part(last.q) : 0,
            quality: isSent ? 0x20 : 0x13
        )
        return LESoundingMode2(permutation: step.permutation, tones: tones + [extra])
    }
}

extension RandomSource {
    /// Returns a number with a normal distribution, of mean 0 and standard deviation 1.
    fileprivate func gaussian() -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return radius * cos(2 * .pi * unit())
    }
}

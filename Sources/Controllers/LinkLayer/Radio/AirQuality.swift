/// The frame loss, corruption and attenuation of a radio path, on top of distance, collisions and interference.
///
/// A quality can be set for all frames, for a channel, for one direction between two nodes, and for one direction on
/// one channel. Only the most specific one applies; they do not add up.
public struct AirQuality: Hashable, Sendable {
    /// The fraction of frames, 0 to 1, that the receiver misses entirely.
    public var lossRate: Double
    /// The fraction of the received frames, 0 to 1, whose CRC is wrong.
    public var corruptionRate: Double
    /// Attenuation in dB beyond the path loss: a wall, a body, an antenna pointing elsewhere.
    public var attenuation: Double

    /// Creates a quality. The defaults are lossless.
    ///
    /// - Parameters:
    ///   - lossRate: The fraction of frames, 0 to 1, that the receiver misses entirely.
    ///   - corruptionRate: The fraction of the received frames, 0 to 1, whose CRC is wrong.
    ///   - attenuation: The attenuation beyond the path loss, in dB.
    public init(lossRate: Double = 0, corruptionRate: Double = 0, attenuation: Double = 0) {
        self.lossRate = lossRate
        self.corruptionRate = corruptionRate
        self.attenuation = attenuation
    }
}

/// The air quality and noise of each channel and direction, indexed for fast lookup.
struct AirConditions {
    struct Direction: Hashable {
        var from: RadioNode.ID
        var to: RadioNode.ID
    }

    /// The qualities set for one direction.
    private struct Rules {
        var everywhere: AirQuality?
        var channels: [UInt8: AirQuality] = [:]
    }

    private var directions: [Direction: Rules] = [:]
    private var byChannel: [AirQuality] = []
    /// The rise in required signal strength due to noise, in dB, by channel index. Empty if no noise is configured.
    private var noiseRises: [Double] = []

    /// Whether all channels and directions are alike, and no frame is lost by chance.
    var areIdeal: Bool {
        directions.isEmpty && noiseRises.isEmpty && byChannel.allSatisfy { $0 == AirQuality() }
    }

    mutating func apply(_ configuration: Radio.Configuration) {
        let general = AirQuality(lossRate: configuration.lossRate, corruptionRate: configuration.corruptionRate)
        byChannel = (0..<UInt8(RadioChannel.count)).map { configuration.channelQuality[$0] ?? general }
        let floor = configuration.propagation.noiseFloor
        noiseRises =
            configuration.channelNoise.isEmpty
            ? []
            : (0..<UInt8(RadioChannel.count)).map { channel in
                guard let noise = configuration.channelNoise[channel] else { return 0 }
                return decibels(milliwatts(noise) + milliwatts(floor)) - floor
            }
    }

    mutating func set(_ quality: AirQuality?, _ direction: Direction, channel: UInt8?) {
        var rules = directions[direction] ?? Rules()
        if let channel { rules.channels[channel] = quality } else { rules.everywhere = quality }
        directions[direction] = rules.everywhere == nil && rules.channels.isEmpty ? nil : rules
    }

    /// The quality that applies to a frame.
    func quality(from sender: RadioNode.ID, to receiver: RadioNode.ID, channel: UInt8) -> AirQuality {
        if !directions.isEmpty, let rules = directions[Direction(from: sender, to: receiver)],
            let quality = rules.channels[channel] ?? rules.everywhere
        {
            return quality
        }
        return byChannel[Int(channel)]
    }

    /// The quality that applies at a position without a node, such as that of a sniffer.
    func quality(channel: UInt8) -> AirQuality { byChannel[Int(channel)] }

    /// How much stronger, in dB, a frame must be on this channel than on a quiet one.
    func noiseRise(_ channel: UInt8) -> Double {
        noiseRises.isEmpty ? 0 : noiseRises[Int(channel)]
    }
}

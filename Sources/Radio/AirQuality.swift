/// How well frames get through, apart from what distance, collisions and interference do to them.
///
/// It can be set for all frames, for a channel, for one direction between two nodes, and for one direction on one channel.
/// The most specific one counts, and alone.
public struct AirQuality: Hashable, Sendable {
    /// The part of the frames, 0 to 1, that a receiver does not notice at all.
    public var lossRate: Double
    /// The part of the others, 0 to 1, that arrives with a wrong CRC.
    public var corruptionRate: Double
    /// By how many dB the signal is weaker than the distance makes it: a wall, a body, an antenna that looks away.
    public var attenuation: Double

    /// Nothing lost unless it is said.
    public init(lossRate: Double = 0, corruptionRate: Double = 0, attenuation: Double = 0) {
        self.lossRate = lossRate
        self.corruptionRate = corruptionRate
        self.attenuation = attenuation
    }
}

/// What the air is like for each channel and each direction, in the form in which it is asked for.
struct AirConditions {
    struct Direction: Hashable {
        var from: RadioNode.ID
        var to: RadioNode.ID
    }

    /// What has been set for a direction.
    private struct Rules {
        var everywhere: AirQuality?
        var channels: [UInt8: AirQuality] = [:]
    }

    private var directions: [Direction: Rules] = [:]
    private var byChannel: [AirQuality] = []
    /// By how many dB noise raises what a receiver needs on each channel; empty for none.
    private var noiseRises: [Double] = []

    /// Takes over what is the same for all nodes.
    mutating func take(_ configuration: Radio.Configuration) {
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

    /// What counts for a frame.
    func quality(from sender: RadioNode.ID, to receiver: RadioNode.ID, channel: UInt8) -> AirQuality {
        if !directions.isEmpty, let rules = directions[Direction(from: sender, to: receiver)],
            let quality = rules.channels[channel] ?? rules.everywhere
        {
            return quality
        }
        return byChannel[Int(channel)]
    }

    /// What counts at a place where no node is.
    func quality(channel: UInt8) -> AirQuality { byChannel[Int(channel)] }

    /// By how many dB a frame has to be stronger on this channel than on a quiet one.
    func noiseRise(_ channel: UInt8) -> Double {
        noiseRises.isEmpty ? 0 : noiseRises[Int(channel)]
    }
}

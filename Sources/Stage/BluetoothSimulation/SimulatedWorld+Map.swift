import Radio

/// The readings for a map of the world.
extension SimulatedDevice {
    /// The reception of one device at the place of another, if nothing else is on the air and no packets get lost by
    /// chance.
    package struct Reception: Hashable, Sendable {
        /// The strength of the signal, in dBm.
        package let strength: Double
        /// Whether it suffices for LE 1M.
        package let isPossible: Bool
    }

    /// The advertising channel that stands for all channels.
    private static let channel: UInt8 = 37
    /// The power that virtual controllers send with, in dBm.
    private static let power = 0.0

    /// The position of the device, in metres.
    package var position: Position { onLoop { $0.node.position } }

    /// Returns how another device receives this one.
    package func reception(at other: SimulatedDevice) -> Reception {
        onLoop { [self] parts in
            let radio = world.state.value.radio
            let strength = radio.strength(power: Self.power, from: parts.node.position, to: other.node.position)
            return Reception(strength: strength, isPossible: radio.isReceivable(strength, channel: Self.channel))
        }
    }

    /// The distance in metres up to which others receive the device, without walls.
    package var range: Double {
        onLoop { [self] _ in world.state.value.radio.range(power: Self.power, channel: Self.channel) }
    }
}

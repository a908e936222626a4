import EventLoops
import Radio

/// Faults of a device, and bad things that happen to it. All may be used from any thread.
extension SimulatedDevice {
    /// A distance at which no device hears another one, in metres.
    private static let farAway = 1_000_000.0

    /// The fault in this device's answers to requests for its attributes; nil for none. Changes apply to later answers.
    public var answerFault: AnswerFault? {
        get { parts.with { $0.answerFault } }
        nonmutating set { parts.with { $0.answerFault = newValue } }
    }

    /// Takes the device out of everybody's range, until ``returnToRange()``. Its links time out.
    public func leaveRange() { parts.with { $0.leaveRange(to: Position(x: Self.farAway)) } }

    /// Brings the device back to where it was before ``leaveRange()``.
    public func returnToRange() { parts.with { $0.returnToRange() } }

    /// Makes packets between this device and all others get lost, in both directions.
    ///
    /// - Parameter share: The share of packets that are lost, from 0 to 1; nil to lose none but by the radio channel.
    public func losePackets(_ share: Double?) {
        let (state, parts) = (world.state, parts)
        let quality = share.map { AirQuality(lossRate: $0) }
        world.loop.waitFor {
            let node = parts.value.node
            for other in state.value.devices.map(\.node) where other !== node {
                state.value.radio.setQuality(quality, from: node, to: other)
                state.value.radio.setQuality(quality, from: other, to: node)
            }
        }
    }

    /// Erases the bonds of the device and starts it again, as its owner does before a sale. Peers keep their bonds.
    public func resetToFactorySettings() {
        for peer in pairedPeers { forget(peer.identifier) }
        restart()
    }
}

extension SimulatedApp {
    /// Moves the app to the background and suspends it at once, without the time that the system grants it otherwise
    /// (behaviour 9.1).
    public func suspend() {
        connection.happened(.left)
        connection.happened(.asksForTime(false))
        connection.happened(.timeIsUp)
    }
}

extension SimulatedWorld {
    /// Changes packets right before they are on the air, for all devices, until the next call.
    ///
    /// - Parameter change: Changes a packet; nil to change none. Called on the loop.
    public func changePackets(_ change: (@Sendable (inout RadioFrame) -> Void)?) {
        let state = state
        loop.waitFor { state.value.radio.onSend = change }
    }
}

import EventLoops
import Foundation
import LinkLayer
import Radio

/// The air of a world, which may get worse at any time.
extension SimulatedWorld {
    /// Changes what the air is like for everybody: how far signals reach, what gets lost, noise, and sources of
    /// interference.
    ///
    /// A Wi-Fi network that begins to be busy for a third of the time:
    ///
    /// ```swift
    /// world.changeAir { $0.interference = [.wifi(channel: 6, at: Position(x: 3), share: 0.33)] }
    /// ```
    public func changeAir(_ change: @escaping @Sendable (inout Radio.Configuration) -> Void) {
        let state = state
        loop.waitFor { change(&state.value.radio.configuration) }
    }

    /// Sets how well a device hears another one; nil for what counts for everybody.
    ///
    /// - Parameters:
    ///   - sender: Who sends. The opposite direction stays as it is.
    ///   - receiver: Who listens.
    ///   - channel: A channel index, 0 to 39; nil for all channels for which nothing else is set.
    public func setQuality(
        _ quality: AirQuality?,
        from sender: SimulatedDevice,
        to receiver: SimulatedDevice,
        channel: UInt8? = nil
    ) {
        let (state, sending, receiving) = (state, sender.parts, receiver.parts)
        loop.waitFor {
            state.value.radio.setQuality(
                quality,
                from: sending.value.socket.node,
                to: receiving.value.socket.node,
                channel: channel
            )
        }
    }

    /// Writes what is on the air from now on as a file that Wireshark opens: pcap with
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR. In virtual time one seed gives one file, octet for octet, and nothing else in the
    /// world changes.
    ///
    /// - Parameters:
    ///   - position: Where the sniffer stands: it does not hear what is too weak there, and marks what others spoil there.
    ///     Without a place it hears everything, undisturbed.
    ///   - write: Takes the octets of the file as they come, header first. Called on the loop.
    public func captureAir(at position: Position? = nil, to write: @escaping @Sendable ([UInt8]) -> Void) {
        let (state, start) = (state, Int64(calendarStart * 1_000_000))
        loop.waitFor {
            var writer = AirCaptureWriter(unixMicrosecondsAtZero: start)
            write(writer.header)
            state.value.radio.addSniffer(at: position).onFrame = { write(writer.record($0)) }
        }
    }
}

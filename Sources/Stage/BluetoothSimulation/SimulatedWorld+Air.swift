import EventLoops
import Foundation
import LinkLayer

/// The radio channel of a world, which can be degraded at any time and sniffed.
extension SimulatedWorld {
    /// Changes the radio channel for all devices: range, packet loss, noise and sources of interference.
    ///
    /// For example, a Wi-Fi network starts to be busy for a third of the time:
    ///
    /// ```swift
    /// world.changeAir { $0.interference = [.wifi(channel: 6, at: Position(x: 3), share: 0.33)] }
    /// ```
    ///
    /// - Parameter change: Changes the configuration. Called on the loop, before this method returns.
    public func changeAir(_ change: @escaping @Sendable (inout Radio.Configuration) -> Void) {
        state.with {
            let old = $0.radio.configuration
            change(&$0.radio.configuration)
            for text in Self.changes(from: old, to: $0.radio.configuration) { $0.report(.changed(text)) }
        }
    }

    private static func changes(from old: Radio.Configuration, to new: Radio.Configuration) -> [String] {
        var texts: [String] = []
        var gone = old.walls
        for wall in new.walls {
            if let index = gone.firstIndex(of: wall) {
                gone.remove(at: index)
            } else {
                texts.append(text(wall, "appears"))
            }
        }
        texts += gone.map { text($0, "is removed") }
        if old.channelNoise != new.channelNoise { texts.append(text(noise: new.channelNoise)) }
        return texts.isEmpty ? ["the radio channel changes"] : texts
    }

    private static func text(_ wall: Wall, _ change: String) -> String {
        "a wall of \(wall.attenuation.shortText) dB from \(wall.start.text) to \(wall.end.text) \(change)"
    }

    private static func text(noise: [UInt8: Double]) -> String {
        guard let strongest = noise.values.max() else { return "the noise ends" }
        let channels = noise.count == 40 ? "all channels" : noise.count == 1 ? "1 channel" : "\(noise.count) channels"
        let isSame = noise.values.allSatisfy { $0 == strongest }
        return "noise of \(isSame ? "" : "up to ")\(strongest.shortText) dBm on \(channels)"
    }

    /// Sets the quality of reception from one device to another.
    ///
    /// - Parameters:
    ///   - quality: The quality, or nil for that of the radio channel.
    ///   - sender: The sending device. The opposite direction is not affected.
    ///   - receiver: The receiving device.
    ///   - channel: A channel index, from 0 to 39. Nil stands for all channels without a quality of their own.
    public func setQuality(
        _ quality: AirQuality?,
        from sender: SimulatedDevice,
        to receiver: SimulatedDevice,
        channel: UInt8? = nil
    ) {
        state.with {
            $0.radio.setQuality(quality, from: sender.node, to: receiver.node, channel: channel)
            $0.report(.changed("the reception of \(sender.name) changes"), of: receiver.name)
        }
    }

    /// Captures all packets on the air from now on, as a file that Wireshark opens: pcapng with
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR. The comment of each packet is the name of its sender, so that Wireshark
    /// can show and filter packets by it (`frame.comment`).
    ///
    /// In virtual time one seed gives the same file, octet for octet. The capture does not affect the simulation.
    ///
    /// - Parameters:
    ///   - position: The position of the sniffer, which misses packets that are too weak there and marks those that are
    ///     corrupted there. Without a position it receives every packet intact.
    ///   - write: Receives the octets of the file as they come, beginning with its header. Called on the loop.
    public func captureAir(at position: Position? = nil, to write: @escaping @Sendable ([UInt8]) -> Void) {
        let start = Int64(calendarStart * 1_000_000)
        state.with { world in
            var writer = AirCaptureWriter(unixMicrosecondsAtZero: start)
            write(writer.header)
            world.radio.addSniffer(at: position).onFrame = { [weak world] frame in
                write(writer.record(frame, from: world?.names[frame.sender]))
            }
        }
    }

    /// Shows all packets on the air to the tools that follow the packets of a device, beside those of its controller
    /// and without keys.
    package func showAir(to device: SimulatedDevice) -> ShownAir {
        let state = state
        return state.with { world in
            var monitor = AirMonitor()
            let sniffer = world.radio.addSniffer()
            sniffer.onFrame = { [weak device, weak world] sniffed in
                let frame = monitor.receive(sniffed)
                device?.receiveAir(sniffed, frame, from: world?.names[sniffed.sender] ?? "")
            }
            return ShownAir(device, LoopBound(sniffer, loop: state.loop))
        }
    }

    /// Changes packets right before they are on the air, for all devices, until the next call.
    ///
    /// - Parameter change: Changes a packet; nil to change none. Called on the loop.
    public func changePackets(_ change: (@Sendable (inout RadioFrame) -> Void)?) {
        state.with { $0.radio.onSend = change }
    }
}

/// The packets on the air that the tools of a device see. From any thread.
package final class ShownAir: Sendable {
    private let device: SimulatedDevice
    private let sniffer: LoopBound<RadioSniffer>

    fileprivate init(_ device: SimulatedDevice, _ sniffer: LoopBound<RadioSniffer>) {
        (self.device, self.sniffer) = (device, sniffer)
    }

    /// Leaves out the empty packets of links on which nothing else happens, or shows them again. A world is many times as
    /// fast without them. The others have the same numbers either way.
    package func leaveOutQuietFrames(_ areLeftOut: Bool) {
        sniffer.with { [weak device] sniffer in
            sniffer.onQuietFrames = areLeftOut ? { device?.passFrames($0) } : nil
        }
    }
}

extension SimulatedDevice {
    fileprivate func passFrames(_ count: Int) { onLoop { $0.system.tap.passFrames(count) } }

    fileprivate func receiveAir(_ sniffed: SniffedFrame, _ frame: AirMonitor.Shown, from sender: String) {
        onLoop { parts in
            parts.system.tap.recordPacket(
                frame.content,
                at: sniffed.start,
                from: sender,
                isReceived: sniffed.sender != parts.node.id,
                of: frame.addresses
            )
        }
    }
}

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

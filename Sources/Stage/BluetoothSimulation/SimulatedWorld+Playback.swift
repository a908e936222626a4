import CapturePlayback

/// A capture in place of a device's controller.
package struct Playback: Sendable {
    let capture: CapturedController
    /// The place of the recorded device among those of its world, which determines its random numbers.
    let number: UInt64?
}

/// Devices whose controller is a capture.
extension SimulatedWorld {
    /// The highest place of a recorded device.
    private static let maximumPlace = 100_000

    /// Adds a device whose controller is a capture: it answers the device's stack with what the captured controller
    /// answered, after the same delays. The device receives nothing of the radio channel.
    ///
    /// Commands are answered by opcode, requests by content. What else the controller sent follows the packet of the
    /// host that it followed in the capture. ``SimulatedDevice/departures`` has the differences between what the
    /// device's stack sends and the capture.
    ///
    /// Addresses, keys and pairing depend on random numbers. Those of a device of a world are the same again in a world
    /// with the same seed, in the same place. With other random numbers a pairing cannot be played: it fails, and the
    /// departures say so.
    ///
    /// - Parameters:
    ///   - name: The name of the device, also its GAP device name.
    ///   - recording: The capture to play.
    ///   - number: The place of the recorded device among the devices of its world, from 1 on; by default the place of
    ///     the new device in this one. Add devices in the order of their places.
    ///   - options: The kind of the device.
    ///   - capture: Receives the octets of a btsnoop file with the device's HCI packets as they come, beginning with
    ///     its header. Called on the loop.
    /// - Returns: The device.
    public func addDevice(
        named name: String,
        playing recording: CapturedController,
        as number: Int? = nil,
        options: DeviceOptions = DeviceOptions(),
        capture: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> SimulatedDevice {
        let playback = Playback(capture: recording, number: number.map { UInt64(min(max($0, 1), Self.maximumPlace)) })
        return addDevice(named: name, options: options, playing: playback, capture: capture) { _ in }
    }
}

extension SimulatedDevice {
    /// The differences between what the device's stack has sent and the capture that its controller plays; empty for a
    /// device with another controller.
    ///
    /// A packet of the capture counts as missing five seconds after it was due, or when its connection has ended.
    public var departures: [CaptureDeparture] { onLoop { $0.socket.departures } }
}

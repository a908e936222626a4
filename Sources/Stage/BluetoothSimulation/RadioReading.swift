import BluetoothService
import HCI
import LinkLayer

/// A reading of the radio of a device's virtual controller.
package struct RadioReading: Sendable {
    /// The number of the controller among those that the device has had. Each begins with a reading of nothing.
    package let controller: Int
    /// The radio time of each use since the controller was created.
    package let times: [RadioUse: RadioTime]
    /// The transmit powers of the radio node in dBm, in the node's order.
    package let powers: [Int8]
}

/// An occasion at which a reading has to be taken, because it cannot be attributed afterwards.
package enum RadioOccasion: Sendable {
    /// The account of a link is merged with that of others, and its handle becomes free.
    case linkRetires(ConnectionHandle)
    /// An event in the system of the device, after which the radio may be used for other apps than before.
    case event(Observation)
    /// The controller is unplugged or replaced.
    case controllerEnds
}

extension SimulatedDevice {
    /// Sets the observer of the occasions at which a reading has to be taken, over restarts.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of events in the device's systems that are occasions.
    ///   - observer: Called on the loop with the reading; it is nil without a virtual controller.
    /// - Returns: The reading now.
    @discardableResult
    package func watchRadio(
        _ kinds: Observation.Kinds,
        _ observer: @escaping @Sendable (RadioOccasion, RadioReading?) -> Void
    ) -> RadioReading? {
        onLoop { parts in
            parts.watchRadio(kinds, observer)
            return parts.socket.radioReading
        }
    }

    /// The reading of the device's present controller; nil without a virtual one.
    package var radioReading: RadioReading? { onLoop { $0.socket.radioReading } }

    /// The time that the device's radio has been on the air, over all of its controllers.
    package var airTime: RadioNode.AirTime { onLoop { $0.node.airTime } }
}

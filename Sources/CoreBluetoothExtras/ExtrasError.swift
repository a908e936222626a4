import CoreBluetooth

/// What goes wrong here alone; all else is a `CBError` or `CBATTError`.
public enum ExtrasError: Error, Hashable, Sendable {
    /// The app has not taken what came, and more than ``EventStreamLimits/elements`` of it waited.
    case overflow
    /// What was asked has not come to an end in the time that it had.
    case deadlinePassed
    /// The manager takes no commands in this state, or does not any more.
    case notPoweredOn(CBManagerState)
    /// Another one has taken its place: a manager has one scan, and one list of connections that it is told of.
    case replaced
    /// Only so many octets fit, and nothing was sent; Core Bluetooth cuts off what is too long (behaviours 5.11, 7.44).
    case tooLong(maximum: Int)
    /// The characteristic is not published by this manager, or not any more.
    case notPublished
    /// Another stream of this manager has the requests of centrals; each of them is answered once.
    case requestsTaken
    /// Something cannot be published as it is; see there.
    case invalid(PublishingFault)
}

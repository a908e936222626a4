import CoreBluetooth

/// An error that only these extras throw. All other errors are `CBError` or `CBATTError`.
public enum ExtrasError: Error, Hashable, Sendable {
    /// The app fell behind: more than ``EventStreamLimits/elements`` elements were waiting, or there are too many calls
    /// or streams at a time.
    case overflow
    /// The deadline of the call has passed. The request may still be carried out; its outcome is dropped.
    case deadlinePassed
    /// The manager is not powered on, or no longer. The associated value is its state.
    case notPoweredOn(CBManagerState)
    /// Another scan or registration has taken its place: a manager has one scan and one registration for connection
    /// events.
    case replaced
    /// The value is longer than the given number of octets, and nothing was sent. Core Bluetooth cuts off such values
    /// (behaviours 5.11, 7.44).
    case tooLong(maximum: Int)
    /// The characteristic is not published by this manager, or no longer.
    case notPublished
    /// Another stream of this manager receives the requests of centrals. Each request has one receiver.
    case requestsTaken
    /// The object cannot be published in its present state. The associated value is the reason.
    case invalid(PublishingFault)
}

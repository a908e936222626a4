import CoreBluetooth

/// Why a call to a peripheral manager ended that the service did not answer; all else is a `CBError` or `CBATTError`.
public enum PeripheralExtrasError: Error, Hashable, Sendable {
    /// The manager does not take requests in this state, or got into it before the answer came.
    case notPoweredOn(CBManagerState)
    /// The characteristic is not published by this manager, or not any more.
    case notPublished
    /// A value is longer than a central that it is for takes; nothing was sent. Core Bluetooth cuts it (behaviour 7.44).
    case updateTooLong(maximum: Int)
    /// Another stream of this manager has the requests of centrals; each of them is answered once.
    case requestsTaken
    /// Something cannot be published as it is; see there.
    case invalid(PublishingFault)
}

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

/// The reason why an object cannot be published. Core Bluetooth traps, or only logs misuse (behaviours 7.3, 7.4, 7.7,
/// 7.8).
public enum PublishingFault: Error, Hashable, Sendable {
    /// A characteristic with a value, for which the system answers reads, must be read-only (behaviour 7.4).
    case cachedValueNotReadOnly
    /// The value has more than 512 octets (behaviour 14.21). The associated value is its length.
    case valueTooLong(octets: Int)
    /// Local characteristics cannot have the properties `broadcast` and `extendedProperties` (behaviour 7.7).
    case propertiesNotAllowed
    /// Only the descriptors 2901 and 2904 can be created. The system creates 2900 and 2902 (behaviour 7.8).
    case descriptorNotAllowed
    /// The value of 2901 has to be a `String`, and that of 2904 a `Data` of seven octets.
    case descriptorValue
    /// A part cannot be published because it is no `CBMutableCharacteristic` or `CBMutableDescriptor`.
    case notMutable
    /// This manager has already published the service.
    case publishedAlready
}

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

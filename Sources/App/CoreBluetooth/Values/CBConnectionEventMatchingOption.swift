/// A criterion for the devices whose connections an app wants to be notified of: a key of the options of
/// ``CBCentralManager/registerForConnectionEvents(options:)`` (behaviour 3.22).
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The key as a string.
    public let rawValue: String

    /// Creates a key from its string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Matches devices that have one of these services. The value is a `[CBUUID]`, of which the first four count.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs"
    )
    /// Matches devices by identifier. The value is a `[UUID]`.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs"
    )
}

/// What the connections that an app wants to hear of have in common: the keys of
/// ``CBCentralManager/registerForConnectionEvents(options:)``.
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The text.
    public let rawValue: String

    /// Any text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Devices with one of these services: a `[CBUUID]` of at most four.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs"
    )
    /// These devices: a `[UUID]` of their identifiers.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs"
    )
}

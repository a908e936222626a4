/// Identifies a manager within its app.
public struct ManagerID: Hashable, Sendable {
    /// No manager. Queries about the app itself use this value.
    public static let none = ManagerID(0)

    /// The number, which messages carry.
    public var rawValue: UInt32

    /// Creates the ID with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The kinds of manager. Sessions of AccessorySetupKit and the Live Activities of an app are connected to the service
/// like managers.
public enum ManagerRole: Hashable, Sendable {
    /// A central manager, which scans and connects.
    case central
    /// A peripheral manager, which publishes services and advertises.
    case peripheral
    /// A session of AccessorySetupKit.
    case accessorySetup
    /// The Live Activities of an app.
    case activities

    /// Whether this is a manager of Core Bluetooth.
    package var isOfBluetooth: Bool { self == .central || self == .peripheral }
}

/// The options of a manager, from its initializer.
public struct ManagerOptions: Hashable, Sendable {
    /// Whether to alert the user if Bluetooth is off (behaviour 1.16).
    public var showsPowerAlert: Bool
    /// The restore identifier, which opts in to preservation and restoration (behaviour 10.1), or nil.
    public var restoreIdentifier: String?
    /// Whether the same process had this manager with a previous service. The process was notified of that service's
    /// end, so nothing is restored to the manager.
    public var isReopened = false

    /// Creates the options of a manager that was not open before.
    ///
    /// - Parameters:
    ///   - showsPowerAlert: Whether to alert the user if Bluetooth is off (behaviour 1.16).
    ///   - restoreIdentifier: The restore identifier (behaviour 10.1); nil to opt out of preservation.
    public init(showsPowerAlert: Bool, restoreIdentifier: String? = nil) {
        self.showsPowerAlert = showsPowerAlert
        self.restoreIdentifier = restoreIdentifier
    }
}

import CoreBluetooth
import ServiceMessages

/// An accessory that the user has allowed the app to use (behaviour 1.23).
///
/// An object does not change. Two objects are equal if they are about the same accessory.
open class ASAccessory: NSObject, @unchecked Sendable {
    // Safe: it has no mutable state.

    /// The authorization of an accessory.
    public enum AccessoryState: Int, Hashable, Sendable {
        /// The app may not use the accessory.
        case unauthorized = 0
        /// The user has chosen the accessory, and the app has to finish the authorization (behaviour 16.6).
        case awaitingAuthorization = 10
        /// The app may use the accessory.
        case authorized = 20
    }

    /// What changes with the name of an accessory.
    public struct RenameOptions: OptionSet, Hashable, Sendable {
        /// The raw bit mask.
        public let rawValue: UInt

        /// Creates options from a bit mask.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The SSID changes as well. This system has no Wi-Fi.
        public static var ssid: RenameOptions { RenameOptions(rawValue: 1) }
    }

    /// What an accessory supports.
    public struct SupportOptions: OptionSet, Hashable, Sendable {
        /// The raw bit mask.
        public let rawValue: UInt

        /// Creates options from a bit mask.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The accessory pairs, which it does while it is set up (behaviour 16.5).
        public static var bluetoothPairingLE: SupportOptions { SupportOptions(rawValue: 1 << 1) }
        /// The accessory can be used with Bluetooth Classic as well. This system does not have that.
        public static var bluetoothTransportBridging: SupportOptions { SupportOptions(rawValue: 1 << 2) }
        /// The accessory is an input device.
        public static var bluetoothHID: SupportOptions { SupportOptions(rawValue: 1 << 3) }
    }

    let accessory: SetUpAccessory

    init(_ accessory: SetUpAccessory) { self.accessory = accessory }

    /// Whether the app may use the accessory.
    open var state: AccessoryState { AccessoryState(rawValue: Int(accessory.state.rawValue) * 10) ?? .unauthorized }
    /// The identifier of the peripheral, for `retrievePeripherals(withIdentifiers:)` (behaviour 1.23).
    open var bluetoothIdentifier: UUID? { accessory.identifier }
    /// The name for the user.
    open var displayName: String { accessory.name }
    /// The SSID of the accessory: nil, since this system has no Wi-Fi.
    open var ssid: String? { nil }
    /// The traits by which the accessory was discovered.
    open var descriptor: ASDiscoveryDescriptor { ASDiscoveryDescriptor(accessory.descriptor) }
    /// The identifier of the accessory in Bluetooth Classic: nil, since this system does not have that.
    open var bluetoothTransportBridgingIdentifier: Data? { nil }

    /// Whether the other object is about the same accessory.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? ASAccessory)?.accessory.identifier == accessory.identifier
    }

    /// The hash of the identifier.
    open override var hash: Int { accessory.identifier.hashValue }

    /// The name, the identifier and the state.
    open override var description: String {
        "<ASAccessory: \(displayName), \(accessory.identifier), \(state)>"
    }
}

/// The properties of an accessory that an app adds when it finishes an authorization.
open class ASAccessorySettings: NSObject {
    /// Settings without properties.
    open class var `default`: ASAccessorySettings { ASAccessorySettings() }

    /// The SSID of the accessory's network. This system has no Wi-Fi.
    open var ssid: String?
    /// The identifier of the accessory in Bluetooth Classic, of six octets. This system does not have that.
    open var bluetoothTransportBridgingIdentifier: Data?

    /// Creates settings without properties.
    public override init() {}
}

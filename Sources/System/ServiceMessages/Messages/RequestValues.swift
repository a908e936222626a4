import BluetoothTypes
import Foundation

/// The parameters of a scan.
public struct ScanRequest: Hashable, Sendable {
    /// Reports only peripherals that advertise one of these services; nil or empty for all (behaviour 2.4).
    public var services: [BluetoothUUID]?
    /// Reports every packet, rather than each peripheral once (behaviour 2.3).
    public var allowsDuplicates: Bool
    /// Reports peripherals that solicit one of these services as well (behaviour 2.8).
    public var solicitedServices: [BluetoothUUID]
    /// The time without a packet after which a peripheral counts as lost, in milliseconds; nil to report no losses
    /// (behaviour 15.3).
    public var lostAfter: Int?

    /// Creates a scan for all services.
    public init() { self.init(services: nil) }

    /// Creates a scan for some or all services.
    ///
    /// - Parameters:
    ///   - services: Report only peripherals that advertise one of these; nil or empty for all (behaviour 2.4).
    ///   - allowsDuplicates: Whether to report every packet (behaviour 2.3).
    ///   - solicitedServices: Report peripherals that solicit one of these as well (behaviour 2.8).
    ///   - lostAfter: The time without a packet after which a peripheral counts as lost, in milliseconds; nil to report
    ///     no losses (behaviour 15.3).
    public init(
        services: [BluetoothUUID]? = nil,
        allowsDuplicates: Bool = false,
        solicitedServices: [BluetoothUUID] = [],
        lostAfter: Int? = nil
    ) {
        self.services = services
        self.allowsDuplicates = allowsDuplicates
        self.solicitedServices = solicitedServices
        self.lostAfter = lostAfter
    }
}

/// The options of a connection.
public struct ConnectOptions: Hashable, Sendable {
    /// Alerts the user when the peripheral connects while the app is suspended (behaviour 3.15).
    public var notifiesOnConnection = false
    /// Alerts the user when the peripheral disconnects while the app is suspended.
    public var notifiesOnDisconnection = false
    /// Alerts the user on every notification while the app is suspended.
    public var notifiesOnNotification = false
    /// The time to wait before the connection attempt starts, in whole seconds (behaviour 3.16).
    public var startDelay = 0
    /// Reconnects automatically when the link is lost (behaviour 3.17).
    public var reconnectsAutomatically = false
    /// Pairs, and shares this system's notifications with the peer if the user agrees (behaviour 3.19).
    public var requiresNotifications = false

    /// Creates the default options.
    public init() {}
}

/// Selects the connections of all apps on this system that are reported to a manager: those of peers with one of the
/// services, and those of the given peers (behaviour 3.22).
public struct ConnectionWatch: Hashable, Sendable {
    /// The maximum number of services (behaviour 14.23).
    public static let maximumServices = 4
    /// The maximum number of peers (AB-G05).
    public static let maximumPeers = 256

    /// Reports peers that have one of these services.
    public var services: [BluetoothUUID]
    /// Reports the peers with these identifiers.
    public var peers: [UUID]

    /// Creates a watch that reports no connections.
    public init() { self.init(services: []) }

    /// Creates a watch for peers with one of `services`, and for `peers`.
    ///
    /// - Parameters:
    ///   - services: At most ``maximumServices`` services.
    ///   - peers: The identifiers of at most ``maximumPeers`` peers.
    public init(services: [BluetoothUUID] = [], peers: [UUID] = []) {
        self.services = services
        self.peers = peers
    }
}

/// Identifies a service, characteristic or descriptor that an app publishes. The app chooses the number, which is
/// unique within the manager.
public struct LocalAttributeID: Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Creates the identifier with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The handle of an attribute in a peer's table: for a service its first handle, for a characteristic that of its
/// value.
public typealias AttributeHandle = UInt16

/// A service that an app publishes.
public struct LocalService: Hashable, Sendable {
    /// The identifier, unique within the manager.
    public var id: LocalAttributeID
    /// The UUID of its type.
    public var uuid: BluetoothUUID
    /// Whether it is a primary service (behaviour 0.6).
    public var isPrimary: Bool
    /// The services that it includes, which have to be published before it (behaviour 7.9).
    public var includedServices: [LocalAttributeID]
    /// The characteristics, in order.
    public var characteristics: [LocalCharacteristic]

    /// Creates a service for publication.
    ///
    /// - Parameters:
    ///   - id: The identifier, unique within the manager.
    ///   - uuid: The UUID of its type.
    ///   - isPrimary: Whether it is a primary service (behaviour 0.6).
    ///   - includedServices: Services that are published already (behaviour 7.9).
    ///   - characteristics: The characteristics, in order.
    public init(
        id: LocalAttributeID,
        uuid: BluetoothUUID,
        isPrimary: Bool,
        includedServices: [LocalAttributeID] = [],
        characteristics: [LocalCharacteristic] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// A characteristic that an app publishes.
public struct LocalCharacteristic: Hashable, Sendable {
    /// The identifier, unique within the manager.
    public var id: LocalAttributeID
    /// The UUID of its type.
    public var uuid: BluetoothUUID
    /// The bits of `CBCharacteristicProperties`, including 0x100 and 0x200 for subscriptions that require encryption.
    public var properties: UInt16
    /// The bits of `CBAttributePermissions`.
    public var permissions: UInt8
    /// A constant value, which the service provides by itself; nil if read requests are passed to the app
    /// (behaviours 7.3, 7.5).
    public var value: PacketBuffer?
    /// The descriptors, in order.
    public var descriptors: [LocalDescriptor]

    /// Creates a characteristic for publication.
    ///
    /// - Parameters:
    ///   - id: The identifier, unique within the manager.
    ///   - uuid: The UUID of its type.
    ///   - properties: The bits of `CBCharacteristicProperties`.
    ///   - permissions: The bits of `CBAttributePermissions`.
    ///   - value: A constant value; nil if read requests are passed to the app (behaviours 7.3, 7.5).
    ///   - descriptors: The descriptors, in order.
    public init(
        id: LocalAttributeID,
        uuid: BluetoothUUID,
        properties: UInt16,
        permissions: UInt8,
        value: PacketBuffer? = nil,
        descriptors: [LocalDescriptor] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
    }
}

/// A descriptor that an app publishes. Its value is constant (behaviour 7.8).
public struct LocalDescriptor: Hashable, Sendable {
    /// The UUID of its type.
    public var uuid: BluetoothUUID
    /// The constant value of the descriptor.
    public var value: PacketBuffer

    /// Creates a descriptor for publication.
    ///
    /// - Parameters:
    ///   - uuid: The UUID of its type.
    ///   - value: The constant value.
    public init(uuid: BluetoothUUID, value: PacketBuffer) {
        self.uuid = uuid
        self.value = value
    }
}

/// Properties that an app prefers for a link; the two devices decide (behaviour 15.4).
public struct LinkPreference: Hashable, Sendable {
    /// The shortest connection interval, in microseconds; nil for no preference.
    public var minimumInterval: Int?
    /// The longest connection interval, in microseconds; nil for no preference.
    public var maximumInterval: Int?
    /// The number of consecutive connection events that the peripheral may skip.
    public var latency = 0
    /// The supervision time-out, in milliseconds.
    public var supervisionTimeout = 6_000
    /// The PHY, by its HCI number; nil for no preference.
    public var phy: Int?
    /// Whether requests of this manager may pair; nil for no change. Without pairing, a request that the peer refuses
    /// for lack of security fails. At first, requests may pair (behaviour 6.1).
    public var pairs: Bool?

    /// Creates a value without preferences.
    public init() {}
}

/// The content of an app's advertisement (behaviours 7.15, 15.16).
public struct AdvertisingRequest: Hashable, Sendable {
    /// The local name; nil for none.
    public var localName: String?
    /// The services to advertise.
    public var services: [BluetoothUUID]
    /// The company identifier, least significant octet first, followed by the company's data. An extension: Apple's
    /// systems do not offer it.
    public var manufacturerData: PacketBuffer?
    /// Service data, in the order in which they are advertised.
    public var serviceData: [LocalDescriptor] = []
    /// The number that the answer repeats.
    public var number: UInt32 = 0

    /// Creates an advertisement that only contains flags.
    public init() { self.init(localName: nil) }

    /// Creates an advertisement with a name, services, or both.
    ///
    /// - Parameters:
    ///   - localName: The local name; nil for none.
    ///   - services: The services to advertise.
    public init(localName: String? = nil, services: [BluetoothUUID] = []) {
        self.localName = localName
        self.services = services
    }
}

/// A report of an app's side about what the service cannot see, for advice to the app's developer.
///
/// Reports are made while something listens for advice only.
public enum AppNote: Hashable, Sendable {
    /// A write without response to this peer was dropped, because there was no room (behaviour 5.13).
    case writeWithoutRoom(UUID)
    /// A value was updated again before the callback that there is room (behaviour 7.43).
    case updateWithoutRoom
    /// The manager was used, and the app has never read its state.
    case stateUnread
    /// The delegate of a restored manager does not implement `willRestoreState` (behaviour 10.8).
    case restorationIgnored
    /// A callback took this long, in milliseconds, while the next one waited.
    case slowCallback(milliseconds: UInt32)
    /// An event of this peer was lost, because its peripheral has no delegate.
    case eventWithoutDelegate(UUID)
    /// The app created the manager.
    case managerCreated
}

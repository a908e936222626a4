import BluetoothTypes
import Foundation

/// A scan as an app asks for it.
public struct ScanRequest: Hashable, Sendable {
    /// Report only peripherals that advertise one of these; nil or empty means all (behaviour 2.4).
    public var services: [BluetoothUUID]?
    /// Report every packet (behaviour 2.3).
    public var allowsDuplicates: Bool
    /// Report peripherals that solicit one of these as well (behaviour 2.8).
    public var solicitedServices: [BluetoothUUID]
    /// After how many milliseconds without a packet a peripheral counts as lost; nil when nobody wants to know (behaviour 15.3).
    public var lostAfter: Int?

    /// A scan for all services.
    public init() { self.init(services: nil) }

    /// A scan for all or for some services.
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

/// How an app wants to be connected.
public struct ConnectOptions: Hashable, Sendable {
    /// Alert the user when it connects while the app is suspended (behaviour 3.15).
    public var notifiesOnConnection = false
    /// Alert the user when it disconnects while the app is suspended.
    public var notifiesOnDisconnection = false
    /// Alert the user on every notification while the app is suspended.
    public var notifiesOnNotification = false
    /// Whole seconds to wait before the attempt starts (behaviour 3.16).
    public var startDelay = 0
    /// Connect again by itself when the link is lost (behaviour 3.17).
    public var reconnectsAutomatically = false
    /// Pair, and let the peer have this system's notifications if the person agrees (behaviour 3.19).
    public var requiresNotifications = false

    /// No options.
    public init() {}
}

/// Which connections by anyone on this system a manager is told of: those of peers that have one of the services, and those of
/// the given peers (behaviour 3.22).
public struct ConnectionWatch: Hashable, Sendable {
    /// Services that may be given (behaviour 14.23).
    public static let maximumServices = 4
    /// Peers that may be given (AB-G05).
    public static let maximumPeers = 256

    /// Peers with one of these.
    public var services: [BluetoothUUID]
    /// These peers.
    public var peers: [UUID]

    /// Connections of nobody.
    public init() { self.init(services: []) }

    /// Connections of some peers.
    public init(services: [BluetoothUUID] = [], peers: [UUID] = []) {
        self.services = services
        self.peers = peers
    }
}

/// Names a service, characteristic or descriptor that an app publishes: unique within its manager, chosen by the app's
/// side.
public struct LocalAttributeID: Hashable, Sendable {
    /// The number.
    public var rawValue: UInt32

    /// The attribute with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The number of an attribute in a peer's table: for a service its first handle, for a characteristic that of its value.
public typealias AttributeHandle = UInt16

/// A service that an app publishes.
public struct LocalService: Hashable, Sendable {
    /// Names it within its manager.
    public var id: LocalAttributeID
    /// What it is.
    public var uuid: BluetoothUUID
    /// Whether it describes the main function (behaviour 0.6).
    public var isPrimary: Bool
    /// Services published before that this one includes (behaviour 7.9).
    public var includedServices: [LocalAttributeID]
    /// Its characteristics, in order.
    public var characteristics: [LocalCharacteristic]

    /// A service.
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
    /// Names it within its manager.
    public var id: LocalAttributeID
    /// What it is.
    public var uuid: BluetoothUUID
    /// The bits of `CBCharacteristicProperties`, with 0x100 and 0x200 for subscriptions that need encryption.
    public var properties: UInt16
    /// The bits of `CBAttributePermissions`.
    public var permissions: UInt8
    /// A value that the service answers with by itself; nil means that the app is asked (behaviours 7.3, 7.5).
    public var value: PacketBuffer?
    /// Its descriptors, in order.
    public var descriptors: [LocalDescriptor]

    /// A characteristic.
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

/// A descriptor that an app publishes; its value never changes (behaviour 7.8).
public struct LocalDescriptor: Hashable, Sendable {
    /// What it is.
    public var uuid: BluetoothUUID
    /// The octets.
    public var value: PacketBuffer

    /// A descriptor.
    public init(uuid: BluetoothUUID, value: PacketBuffer) {
        self.uuid = uuid
        self.value = value
    }
}

/// What an app would like a link to be like; the two devices decide (behaviour 15.4).
public struct LinkPreference: Hashable, Sendable {
    /// The shortest and the longest connection interval, in microseconds; nil for no wish.
    public var minimumInterval: Int?
    /// The longest connection interval, in microseconds.
    public var maximumInterval: Int?
    /// Connection events in a row that the peripheral may leave out.
    public var latency = 0
    /// How long silence is borne, in milliseconds.
    public var supervisionTimeout = 6_000
    /// The PHY, by the numbers of HCI; nil for no wish.
    public var phy: Int?

    /// No wish.
    public init() {}
}

/// What an app wants to advertise (behaviours 7.15, 15.16).
public struct AdvertisingRequest: Hashable, Sendable {
    /// The name.
    public var localName: String?
    /// Its services.
    public var services: [BluetoothUUID]
    /// The company's number, least significant octet first, and its data; for who asked for more than Apple's systems have.
    public var manufacturerData: PacketBuffer?
    /// Data by service, in the order in which they are put on the air.
    public var serviceData: [LocalDescriptor] = []
    /// Names the request in its answer.
    public var number: UInt32 = 0

    /// Nothing but flags.
    public init() { self.init(localName: nil) }

    /// A name, services, or both.
    public init(localName: String? = nil, services: [BluetoothUUID] = []) {
        self.localName = localName
        self.services = services
    }
}

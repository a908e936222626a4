import BluetoothTypes
import Foundation

/// What an app asks of the service. One of the two message types between `CoreBluetooth` and the service; ``Event`` is the
/// other.
///
/// Requests are plain values: in one process they are handed over as they are, and a daemon gets them through a socket.
public enum Request: Hashable, Sendable {
    // MARK: Central role

    /// Starts a scan, or replaces the parameters of the running one (behaviour 2.6).
    case startScan(ScanRequest)
    /// Ends the scan.
    case stopScan
    /// Connects, without a time limit (behaviour 3.1).
    case connect(peer: UUID, options: ConnectOptions)
    /// Gives up a pending or live connection of this manager (behaviours 3.6, 3.7).
    case cancelConnection(peer: UUID)
    /// Discovers primary services; nil means all.
    case discoverServices(peer: UUID, uuids: [BluetoothUUID]?)
    /// Discovers the services that a service includes; nil means all.
    case discoverIncludedServices(peer: UUID, service: AttributeHandle, uuids: [BluetoothUUID]?)
    /// Discovers the characteristics of a service; nil means all.
    case discoverCharacteristics(peer: UUID, service: AttributeHandle, uuids: [BluetoothUUID]?)
    /// Discovers all descriptors of a characteristic.
    case discoverDescriptors(peer: UUID, characteristic: AttributeHandle)
    /// Reads a whole value, however long.
    case readCharacteristic(peer: UUID, characteristic: AttributeHandle)
    /// Reads a whole descriptor, however long.
    case readDescriptor(peer: UUID, descriptor: AttributeHandle)
    /// Writes and waits for the answer; long values are prepared and executed (behaviour 5.9).
    case writeCharacteristic(peer: UUID, characteristic: AttributeHandle, value: PacketBuffer)
    /// Writes without an answer. Takes one of the credits that ``Event/writeCreditsReturned(peer:count:)`` gives back.
    case writeWithoutResponse(peer: UUID, characteristic: AttributeHandle, value: PacketBuffer)
    /// Writes a descriptor.
    case writeDescriptor(peer: UUID, descriptor: AttributeHandle, value: PacketBuffer)
    /// Subscribes or unsubscribes this manager (behaviours 5.16 to 5.18).
    case setNotify(peer: UUID, characteristic: AttributeHandle, enabled: Bool)
    /// Reads the signal strength of the link.
    case readRSSI(peer: UUID)
    /// The app has let go of its last reference to the peripheral (behaviours 2.20, 3.5).
    case forget(peer: UUID)

    // MARK: Peripheral role

    /// Publishes a service.
    case addService(LocalService)
    /// Takes a service back.
    case removeService(LocalAttributeID)
    /// Takes all services of this manager back.
    case removeAllServices
    /// Starts advertising.
    case startAdvertising(AdvertisingRequest)
    /// Ends it.
    case stopAdvertising
    /// Answers a read or write; `value` is for reads.
    case respond(transaction: UInt64, status: ATTStatus, value: PacketBuffer?)
    /// Sends a new value to subscribers; nil means all of them. Takes one of the credits that
    /// ``Event/updateCreditsReturned(count:)`` gives back.
    case updateValue(characteristic: LocalAttributeID, value: PacketBuffer, centrals: [UUID]?)
    /// Asks the central for faster or slower connection events (behaviour 7.47).
    case setDesiredConnectionLatency(central: UUID, latency: Int)
}

/// What an app asks and waits for.
public enum Query: Hashable, Sendable {
    /// Known peripherals by identifier, in the order asked, unknown ones left out (behaviour 11.2).
    case peripherals(identifiers: [UUID])
    /// Peripherals connected to this system by anyone that have one of the services (behaviour 11.7).
    case connectedPeripherals(services: [BluetoothUUID])
}

/// A scan as an app asks for it.
public struct ScanRequest: Hashable, Sendable {
    /// Report only peripherals that advertise one of these; nil or empty means all (behaviour 2.4).
    public var services: [BluetoothUUID]?
    /// Report every packet (behaviour 2.3).
    public var allowsDuplicates: Bool
    /// Report peripherals that solicit one of these as well (behaviour 2.8).
    public var solicitedServices: [BluetoothUUID]

    /// A scan for all or for some services.
    public init(
        services: [BluetoothUUID]? = nil,
        allowsDuplicates: Bool = false,
        solicitedServices: [BluetoothUUID] = []
    ) {
        self.services = services
        self.allowsDuplicates = allowsDuplicates
        self.solicitedServices = solicitedServices
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

    /// No options.
    public init() {}
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

/// What an app wants to advertise (behaviour 7.15).
public struct AdvertisingRequest: Hashable, Sendable {
    /// The name.
    public var localName: String?
    /// Its services.
    public var services: [BluetoothUUID]

    /// A name, services, or both.
    public init(localName: String? = nil, services: [BluetoothUUID] = []) {
        self.localName = localName
        self.services = services
    }
}

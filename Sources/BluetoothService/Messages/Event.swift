import BluetoothTypes
import Foundation

/// What the service tells an app's manager. See ``Request``.
public enum Event: Hashable, Sendable {
    /// The state of the radio for this manager. Always the first event.
    case stateChanged(ManagerState)

    // MARK: Central role

    /// An advertisement was received that the scan asked for.
    case discovered(PeerInfo, Advertisement, rssi: Int)
    /// The manager is connected.
    case connected(PeerInfo, maximumWriteWithoutResponse: Int)
    /// An attempt failed for a passing reason (behaviour 3.2).
    case connectionFailed(peer: UUID, ServiceError)
    /// The manager is no longer connected; nil when it asked for that (behaviours 3.6, 3.12). The time is in seconds since
    /// the beginning of 2001, UTC; nil when the service has no calendar.
    case disconnected(peer: UUID, ServiceError?, isReconnecting: Bool, timestamp: TimeInterval? = nil)
    /// Services that answer the request, those known before included.
    case servicesDiscovered(peer: UUID, Result<[RemoteService], ServiceError>)
    /// Services that a service includes.
    case includedServicesDiscovered(peer: UUID, service: AttributeHandle, Result<[RemoteService], ServiceError>)
    /// Characteristics of a service.
    case characteristicsDiscovered(
        peer: UUID,
        service: AttributeHandle,
        Result<[RemoteCharacteristic], ServiceError>
    )
    /// Descriptors of a characteristic.
    case descriptorsDiscovered(peer: UUID, characteristic: AttributeHandle, Result<[RemoteDescriptor], ServiceError>)
    /// A value was read, notified or indicated.
    case valueUpdated(peer: UUID, characteristic: AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A descriptor was read.
    case descriptorUpdated(peer: UUID, descriptor: AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A write with response has ended.
    case valueWritten(peer: UUID, characteristic: AttributeHandle, ServiceError?)
    /// A descriptor write has ended.
    case descriptorWritten(peer: UUID, descriptor: AttributeHandle, ServiceError?)
    /// A subscription was made or ended, or could not be.
    case notifyStateChanged(peer: UUID, characteristic: AttributeHandle, isNotifying: Bool, ServiceError?)
    /// The signal strength was read.
    case rssiRead(peer: UUID, Result<Int, ServiceError>)
    /// The peer's GAP name is new (behaviour 2.24).
    case nameChanged(peer: UUID, name: String?)
    /// Services of the peer are no longer what they were (behaviour 4.13).
    case servicesModified(peer: UUID, invalidated: [AttributeHandle])
    /// The most that a write without response takes has changed (behaviour 5.8).
    case maximumWriteLengthChanged(peer: UUID, withoutResponse: Int)
    /// Writes without response have left the queue.
    case writeCreditsReturned(peer: UUID, count: Int)

    // MARK: Peripheral role

    /// A service was published, or could not be.
    case serviceAdded(LocalAttributeID, ServiceError?)
    /// Advertising began, or could not.
    case advertisingStarted(ServiceError?)
    /// A central subscribed.
    case subscribed(CentralInfo, characteristic: LocalAttributeID)
    /// A central unsubscribed or is gone.
    case unsubscribed(CentralInfo, characteristic: LocalAttributeID)
    /// A central reads a value that the app answers for.
    case readRequested(transaction: UInt64, CentralInfo, characteristic: LocalAttributeID, offset: Int)
    /// A central writes; all or nothing (behaviour 7.35). Write commands need no response (behaviour 7.36).
    case writeRequested(transaction: UInt64, CentralInfo, [WriteRequest], needsResponse: Bool)
    /// Updates have left the queue.
    case updateCreditsReturned(count: Int)
    /// What is known of a central has changed.
    case centralChanged(CentralInfo)
}

/// The answer to a ``Query``.
public enum Reply: Hashable, Sendable {
    /// Peripherals, in the order asked.
    case peripherals([PeerInfo])
}

/// The states of `CBManagerState`, with its raw values.
public enum ManagerState: Int, Hashable, Sendable {
    /// Behaviours 1.3 and 1.4 say what they mean.
    case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

/// A peripheral as an app knows it.
public struct PeerInfo: Hashable, Sendable {
    /// Given by this host; says nothing about the address (behaviour 6.19).
    public var identifier: UUID
    /// The GAP name once it is known, the advertised name before (behaviour 2.23).
    public var name: String?

    /// A peripheral.
    public init(identifier: UUID, name: String? = nil) {
        self.identifier = identifier
        self.name = name
    }
}

/// A central as an app knows it.
public struct CentralInfo: Hashable, Sendable {
    /// Given by this host; says nothing about the address.
    public var identifier: UUID
    /// The most octets of one notification or indication: ATT MTU less 3.
    public var maximumUpdateLength: Int

    /// A central.
    public init(identifier: UUID, maximumUpdateLength: Int) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// One write of a batch.
public struct WriteRequest: Hashable, Sendable {
    /// What is written.
    public var characteristic: LocalAttributeID
    /// Where in the value, in octets.
    public var offset: Int
    /// The octets.
    public var value: PacketBuffer

    /// A write.
    public init(characteristic: LocalAttributeID, offset: Int, value: PacketBuffer) {
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
    }
}

/// What a peripheral advertises; a field that is not there is nil or empty (behaviour 2.9).
public struct Advertisement: Hashable, Sendable {
    /// The name.
    public var localName: String?
    /// The company's number, least significant octet first, and its data.
    public var manufacturerData: PacketBuffer?
    /// Data by service.
    public var serviceData: [BluetoothUUID: PacketBuffer] = [:]
    /// Services in the packets themselves.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Services of the filter whose bit is set in the overflow area (behaviour 2.34).
    public var overflowServiceUUIDs: [BluetoothUUID] = []
    /// Services that the peripheral looks for in a central.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// dBm.
    public var txPowerLevel: Int?
    /// Whether the packet invites connections (behaviour 2.12).
    public var isConnectable = false

    /// An empty advertisement.
    public init() {}
}

/// A service of a peer.
public struct RemoteService: Hashable, Sendable {
    /// Its first handle.
    public var handle: AttributeHandle
    /// Its last handle.
    public var endHandle: AttributeHandle
    /// What it is.
    public var uuid: BluetoothUUID
    /// Whether it describes the main function (behaviour 0.6).
    public var isPrimary: Bool

    /// A service.
    public init(handle: AttributeHandle, endHandle: AttributeHandle, uuid: BluetoothUUID, isPrimary: Bool) {
        self.handle = handle
        self.endHandle = endHandle
        self.uuid = uuid
        self.isPrimary = isPrimary
    }
}

/// A characteristic of a peer.
public struct RemoteCharacteristic: Hashable, Sendable {
    /// The handle of its value.
    public var handle: AttributeHandle
    /// What it is.
    public var uuid: BluetoothUUID
    /// The bits of the declaration.
    public var properties: UInt8

    /// A characteristic.
    public init(handle: AttributeHandle, uuid: BluetoothUUID, properties: UInt8) {
        self.handle = handle
        self.uuid = uuid
        self.properties = properties
    }
}

/// A descriptor of a peer.
public struct RemoteDescriptor: Hashable, Sendable {
    /// Its handle.
    public var handle: AttributeHandle
    /// What it is.
    public var uuid: BluetoothUUID

    /// A descriptor.
    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

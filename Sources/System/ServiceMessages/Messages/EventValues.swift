import BluetoothTypes
import Foundation

/// The states of `CBManagerState`, with its raw values.
public enum ManagerState: Int, Hashable, Sendable {
    /// See behaviours 1.3 and 1.4 for the meaning of each state.
    case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

/// Whether an app may use Bluetooth, with the raw values of `CBManagerAuthorization` (behaviour 1.20).
public enum AppPermission: Int, Hashable, Sendable {
    /// In this order: the user has not answered yet, the system does not permit it, the user has denied it, and the
    /// user has allowed it. The default is the last one (behaviour 1.18).
    case notDetermined, restricted, denied, allowedAlways
}

/// Whether an app may start a Live Activity (behaviour 9.22).
public enum ActivityAccess: UInt8, Hashable, Sendable {
    /// The version of the system has none.
    case unsupported
    /// The app does not declare that it supports them.
    case undeclared
    /// The app is not in the foreground.
    case notVisible
    /// The app may start one.
    case allowed
}

/// The capabilities of the system, and the app's permission to use them.
public struct SystemInfo: Hashable, Sendable {
    /// Whether a controller is present that supports extended scanning and connecting (behaviour 1.25).
    public var hasExtendedScanAndConnect: Bool
    /// Whether distances can be measured by Channel Sounding (behaviour 17.1).
    public var hasChannelSounding: Bool
    /// Whether the app may use Bluetooth.
    public var permission: AppPermission
    /// Whether the app may start a Live Activity (behaviour 9.22).
    public var activityAccess = ActivityAccess.unsupported

    /// Creates the information of a system without a controller that all apps may use.
    public init() { self.init(hasExtendedScanAndConnect: false, permission: .allowedAlways) }

    /// Creates the information of a system.
    ///
    /// - Parameters:
    ///   - hasExtendedScanAndConnect: Whether a controller is present that supports both (behaviour 1.25).
    ///   - permission: Whether the app may use Bluetooth.
    ///   - hasChannelSounding: Whether distances can be measured (behaviour 17.1).
    public init(hasExtendedScanAndConnect: Bool, permission: AppPermission, hasChannelSounding: Bool = false) {
        self.hasExtendedScanAndConnect = hasExtendedScanAndConnect
        self.hasChannelSounding = hasChannelSounding
        self.permission = permission
    }
}

/// A peripheral, as apps identify it.
public struct PeerInfo: Hashable, Sendable {
    /// The identifier assigned by this host. It reveals nothing about the address (behaviour 6.19).
    public var identifier: UUID
    /// The GAP name once it is known, or else the advertised name (behaviour 2.23). Nil if neither is known.
    public var name: String?

    /// Creates the description of a peripheral.
    ///
    /// - Parameters:
    ///   - identifier: The identifier assigned by this host.
    ///   - name: The GAP name or the advertised name; nil if neither is known.
    public init(identifier: UUID, name: String? = nil) {
        self.identifier = identifier
        self.name = name
    }
}

/// A central, as apps identify it.
public struct CentralInfo: Hashable, Sendable {
    /// The identifier assigned by this host. It reveals nothing about the address.
    public var identifier: UUID
    /// The maximum length of a notification or indication, in octets: ATT MTU - 3.
    public var maximumUpdateLength: Int

    /// Creates the description of a central.
    ///
    /// - Parameters:
    ///   - identifier: The identifier assigned by this host.
    ///   - maximumUpdateLength: The maximum length of a notification or indication, in octets: ATT MTU - 3.
    public init(identifier: UUID, maximumUpdateLength: Int) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// One write of a batch that a central requests.
public struct WriteRequest: Hashable, Sendable {
    /// The characteristic to be written.
    public var characteristic: LocalAttributeID
    /// The offset into the value, in octets.
    public var offset: Int
    /// The octets to be written at the offset.
    public var value: PacketBuffer

    /// Creates a write of `value` at `offset`.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic to be written.
    ///   - offset: The offset into the value, in octets.
    ///   - value: The octets to be written.
    public init(characteristic: LocalAttributeID, offset: Int, value: PacketBuffer) {
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
    }
}

/// The content of a peripheral's advertisement. Absent fields are nil or empty (behaviour 2.9).
public struct Advertisement: Hashable, Sendable {
    /// The local name; nil if there is none.
    public var localName: String?
    /// The company identifier, least significant octet first, followed by the company's data.
    public var manufacturerData: PacketBuffer?
    /// Service data by service.
    public var serviceData: [BluetoothUUID: PacketBuffer] = [:]
    /// The services listed in the packets themselves.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Services of the scan's filter whose bits are set in the overflow area (behaviour 2.34).
    public var overflowServiceUUIDs: [BluetoothUUID] = []
    /// The services that the peripheral solicits from centrals.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// The transmit power in dBm.
    public var txPowerLevel: Int?
    /// Whether the packet is connectable (behaviour 2.12).
    public var isConnectable = false
    /// The PHY on which it was received, by its HCI number (behaviour 2.11).
    public var primaryPHY = 1
    /// The PHY that carried the data of an extended advertisement, by its HCI number; 0 for a legacy one.
    public var secondaryPHY = 0
    /// When it was received, in seconds since the beginning of 2001, UTC; nil if the service has no calendar.
    public var timestamp: TimeInterval?

    /// Creates an empty advertisement.
    public init() {}
}

/// The properties of a link at one moment (behaviour 15.4).
public struct LinkFacts: Hashable, Sendable {
    /// The connection interval, in microseconds.
    public var interval = 0
    /// The number of consecutive connection events that the peripheral may skip.
    public var latency = 0
    /// The supervision time-out, in milliseconds.
    public var supervisionTimeout = 0
    /// The PHY for transmission, by its HCI number.
    public var txPHY = 1
    /// The PHY for reception, by its HCI number.
    public var rxPHY = 1
    /// The ATT MTU, in octets.
    public var mtu = 23
    /// The maximum link-layer payload for transmission, in octets.
    public var maxTxOctets = 27
    /// The maximum link-layer payload for reception, in octets.
    public var maxRxOctets = 27
    /// The signal strength in dBm; nil if it was not requested.
    public var rssi: Int?
    /// Whether the link is encrypted.
    public var isEncrypted = false
    /// Whether the key is authenticated (MITM-protected).
    public var isAuthenticated = false
    /// Whether the peer is bonded.
    public var isBonded = false
    /// The size of the encryption key in octets; 0 without encryption.
    public var keySize = 0
    /// The flaws of the peer's attribute table, as clauses: at most ``maximumFlaws``.
    public var tableFlaws: [String] = []
    /// The maximum number of ``tableFlaws``.
    public static let maximumFlaws = 64

    /// Creates the properties of an unencrypted link with the default packet length and MTU.
    public init() {}
}

/// The names of a peer, and their ages in milliseconds. An age is nil if the name is a stored one (behaviour 15.7).
public struct KnownNames: Hashable, Sendable {
    /// The name in the peer's advertisements.
    public var advertised: String?
    /// The time since an advertisement with that name was last received.
    public var advertisedAge: Int?
    /// The name in the peer's Generic Access service.
    public var device: String?
    /// The time since that name was read.
    public var deviceAge: Int?

    /// Creates an empty value, for a peer without names.
    public init() {}
}

/// The counters of a scan's filter (behaviour 15.29).
public struct ScanCounts: Hashable, Sendable {
    /// Advertisements that matched the scan.
    public var heard = 0
    /// Advertisements that were reported to the app.
    public var reported = 0
    /// Advertisements that were not reported because the device had been reported before.
    public var suppressed = 0
    /// Devices that are remembered as reported.
    public var remembered = 0
    /// Devices that were forgotten to keep memory bounded (AB-G02). They are reported again.
    public var forgotten = 0

    /// Creates counters at zero.
    public init() {}
}

/// A service of a peer.
public struct RemoteService: Hashable, Sendable {
    /// The first handle of the service.
    public var handle: AttributeHandle
    /// The last handle of the service.
    public var endHandle: AttributeHandle
    /// The UUID of its type.
    public var uuid: BluetoothUUID
    /// Whether it is a primary service (behaviour 0.6).
    public var isPrimary: Bool

    /// Creates a service from its attributes.
    ///
    /// - Parameters:
    ///   - handle: The first handle of the service.
    ///   - endHandle: The last handle of the service.
    ///   - uuid: The UUID of its type.
    ///   - isPrimary: Whether it is a primary service (behaviour 0.6).
    public init(handle: AttributeHandle, endHandle: AttributeHandle, uuid: BluetoothUUID, isPrimary: Bool) {
        self.handle = handle
        self.endHandle = endHandle
        self.uuid = uuid
        self.isPrimary = isPrimary
    }
}

/// A characteristic of a peer.
public struct RemoteCharacteristic: Hashable, Sendable {
    /// The handle of the value.
    public var handle: AttributeHandle
    /// The UUID of its type.
    public var uuid: BluetoothUUID
    /// The properties of the characteristic declaration.
    public var properties: UInt8
    /// The value last read, by any app (behaviour 4.9); nil if there is none.
    public var value: PacketBuffer?

    /// Creates a characteristic from its attributes.
    ///
    /// - Parameters:
    ///   - handle: The handle of the value.
    ///   - uuid: The UUID of its type.
    ///   - properties: The properties of the characteristic declaration (Core Vol 3 Part G 3.3.1.1).
    ///   - value: The value last read, by any app (behaviour 4.9); nil if there is none.
    public init(handle: AttributeHandle, uuid: BluetoothUUID, properties: UInt8, value: PacketBuffer? = nil) {
        self.handle = handle
        self.uuid = uuid
        self.properties = properties
        self.value = value
    }
}

/// A descriptor of a peer.
public struct RemoteDescriptor: Hashable, Sendable {
    /// The handle of the descriptor.
    public var handle: AttributeHandle
    /// The UUID of its type.
    public var uuid: BluetoothUUID

    /// Creates a descriptor from its attributes.
    ///
    /// - Parameters:
    ///   - handle: The handle of the descriptor.
    ///   - uuid: The UUID of its type.
    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

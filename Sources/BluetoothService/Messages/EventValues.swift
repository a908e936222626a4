import BluetoothTypes
import Foundation

/// The states of `CBManagerState`, with its raw values.
public enum ManagerState: Int, Hashable, Sendable {
    /// Behaviours 1.3 and 1.4 say what they mean.
    case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

/// Whether an app may use Bluetooth, with the raw values of `CBManagerAuthorization` (behaviour 1.20).
public enum AppPermission: Int, Hashable, Sendable {
    case notDetermined, restricted, denied, allowedAlways
}

/// What a system can do, and what an app may do with it.
public struct SystemInfo: Hashable, Sendable {
    /// Whether there is a controller that scans for extended advertisements and connects to them (behaviour 1.25).
    public var hasExtendedScanAndConnect: Bool
    /// Whether the app may use Bluetooth.
    public var permission: AppPermission

    /// A system without a controller, that is open to all.
    public init() { self.init(hasExtendedScanAndConnect: false, permission: .allowedAlways) }

    /// A system.
    public init(hasExtendedScanAndConnect: Bool, permission: AppPermission) {
        self.hasExtendedScanAndConnect = hasExtendedScanAndConnect
        self.permission = permission
    }
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
    /// The PHY that it was heard on, by the numbers of HCI (behaviour 2.11).
    public var primaryPHY = 1
    /// The PHY that the data of an extended advertisement came on, by the numbers of HCI; 0 for a legacy one.
    public var secondaryPHY = 0
    /// When it was heard, in seconds since the beginning of 2001, UTC; nil when the service has no calendar.
    public var timestamp: TimeInterval?

    /// An empty advertisement.
    public init() {}
}

/// What a link is like at a moment (behaviour 15.4).
public struct LinkFacts: Hashable, Sendable {
    /// The connection interval, in microseconds.
    public var interval = 0
    /// Connection events in a row that the peripheral may leave out.
    public var latency = 0
    /// How long silence is borne, in milliseconds.
    public var supervisionTimeout = 0
    /// The PHY for sending, by the numbers of HCI.
    public var txPHY = 1
    /// The PHY for receiving.
    public var rxPHY = 1
    /// The MTU of the attribute protocol.
    public var mtu = 23
    /// The longest link-layer payload that is sent, in octets.
    public var maxTxOctets = 27
    /// The longest link-layer payload that is received, in octets.
    public var maxRxOctets = 27
    /// The signal strength in dBm, where it was asked for.
    public var rssi: Int?
    /// Whether the link is encrypted.
    public var isEncrypted = false
    /// Whether nobody can be in the middle.
    public var isAuthenticated = false
    /// Whether the peer is bonded.
    public var isBonded = false
    /// Octets of the key; 0 without encryption.
    public var keySize = 0

    /// A link as it begins.
    public init() {}
}

/// The names that this host knows of a peer, and how old they are, in milliseconds; an age is nil where the name is from before
/// (behaviour 15.7).
public struct KnownNames: Hashable, Sendable {
    /// The name in its advertisements.
    public var advertised: String?
    /// When that was last heard.
    public var advertisedAge: Int?
    /// The name in its Generic Access service.
    public var device: String?
    /// When that was read.
    public var deviceAge: Int?

    /// No names.
    public init() {}
}

/// What the filter of a scan has done so far (behaviour 15.29).
public struct ScanCounts: Hashable, Sendable {
    /// Advertisements that the scan asked for.
    public var heard = 0
    /// Those that the app was told of.
    public var reported = 0
    /// Those that it was not told of, since it knew the device.
    public var suppressed = 0
    /// Devices that are remembered.
    public var remembered = 0
    /// Devices that were forgotten since there is a bound (AB-G02); they are told of again.
    public var forgotten = 0

    /// Nothing so far.
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
    /// What was read last, by whichever app (behaviour 4.9).
    public var value: PacketBuffer?

    /// A characteristic.
    public init(handle: AttributeHandle, uuid: BluetoothUUID, properties: UInt8, value: PacketBuffer? = nil) {
        self.handle = handle
        self.uuid = uuid
        self.properties = properties
        self.value = value
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

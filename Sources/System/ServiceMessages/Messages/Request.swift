import BluetoothTypes
import Foundation

/// A request of a manager to the service. Its outcome is reported by ``Event``s.
///
/// Messages are plain values with a declared wire format. Within one process they are passed as values; a daemon
/// receives them through a socket.
public enum Request: Hashable, Sendable {
    /// A request of a central manager.
    case central(CentralRequest)
    /// A request of a peripheral manager.
    case peripheral(PeripheralRequest)
    /// A request for one of the manager's channels.
    case channel(ChannelID, ChannelRequest)
    /// A request of a session of AccessorySetupKit, with a number that the answer repeats.
    case setup(number: UInt32, SetupRequest)
    /// A Live Activity, under a number that the app has chosen, begins or ends (behaviour 9.22).
    case activity(UInt32, begins: Bool)
}

/// A request of a central manager.
public enum CentralRequest: Hashable, Sendable {
    /// Starts a scan, or replaces the parameters of the running one (behaviour 2.6).
    case startScan(ScanRequest)
    /// Stops the scan, if one is running.
    case stopScan
    /// A request for one peripheral.
    case peer(UUID, PeerRequest)
    /// Reports connections of all apps on this system, as the new watch selects them; it replaces the current watch.
    /// Nil stops the reports (behaviour 3.22).
    case watchConnections(ConnectionWatch?)
    /// Makes the scan forget which devices it has reported.
    case resetScanFilter
}

/// A request of a central manager for one peripheral.
public enum PeerRequest: Hashable, Sendable {
    /// Connects to the peripheral, without a time limit (behaviour 3.1).
    case connect(ConnectOptions)
    /// Cancels a pending or established connection of this manager (behaviours 3.6, 3.7).
    case cancelConnection
    /// The app has released its last reference to the peripheral (behaviours 2.20, 3.5).
    case forget
    /// A request to the peripheral itself, which has to be connected (behaviour 1.7).
    case link(LinkRequest)
    /// The same with a number chosen by the app, other than 0, which the answer repeats:
    /// ``CentralEvent/answered(_:number:_:)``.
    case ask(UInt32, LinkRequest)
}

/// A request to a connected peripheral.
public enum LinkRequest: Hashable, Sendable {
    /// Discovers primary services; nil for all.
    case discoverServices([BluetoothUUID]?)
    /// Discovers the services that a service includes; nil for all.
    case discoverIncludedServices(of: AttributeHandle, [BluetoothUUID]?)
    /// Discovers the characteristics of a service; nil for all.
    case discoverCharacteristics(of: AttributeHandle, [BluetoothUUID]?)
    /// Discovers all descriptors of a characteristic.
    case discoverDescriptors(of: AttributeHandle)
    /// Reads a value of any length.
    case readCharacteristic(AttributeHandle)
    /// Reads a descriptor of any length.
    case readDescriptor(AttributeHandle)
    /// Writes a value with response. Long values are prepared and executed (behaviour 5.9).
    case writeCharacteristic(AttributeHandle, value: PacketBuffer)
    /// Writes a value without response. Spends one of the credits that ``PeerEvent/writeCreditsReturned(_:)`` returns.
    case writeWithoutResponse(AttributeHandle, value: PacketBuffer)
    /// Writes a descriptor with response.
    case writeDescriptor(AttributeHandle, value: PacketBuffer)
    /// Subscribes or unsubscribes this manager (behaviours 5.16 to 5.18).
    case setNotify(AttributeHandle, isEnabled: Bool)
    /// Reads the signal strength of the link.
    case readRSSI
    /// Opens an L2CAP channel (behaviour 8.5).
    case openChannel(psm: UInt16)
    /// Measures the distance with Channel Sounding.
    case startChannelSounding
    /// Stops measuring the distance.
    case cancelChannelSounding
    /// Forgets the cached services of the peer, and discovers them anew (behaviour 15.6).
    case refreshServices
    /// Requests the properties of the link (behaviour 15.4).
    case readLinkInformation
    /// Starts or stops the reports of changes of the link.
    case watchLink(Bool)
    /// States preferred properties of the link. There is no answer.
    case preferLink(LinkPreference)
}

/// A request of a peripheral manager.
public enum PeripheralRequest: Hashable, Sendable {
    /// Publishes a service. Answered by ``PeripheralEvent/serviceAdded(_:_:)``.
    case addService(LocalService)
    /// Removes a published service of this manager.
    case removeService(LocalAttributeID)
    /// Removes all services of this manager.
    case removeAllServices
    /// Starts advertising. Answered by ``PeripheralEvent/advertisingStarted(_:number:)``.
    case startAdvertising(AdvertisingRequest)
    /// Stops the advertising of this manager.
    case stopAdvertising
    /// Answers a read or write request; `value` is for reads.
    case respond(transaction: UInt64, ATTStatus, value: PacketBuffer?)
    /// Sends a new value to subscribers; nil for all of them. Spends one of the credits that
    /// ``PeripheralEvent/updateCreditsReturned(_:)`` returns.
    case updateValue(LocalAttributeID, value: PacketBuffer, centrals: [UUID]?)
    /// Requests a different latency of the link from the central (behaviour 7.47).
    case setDesiredConnectionLatency(central: UUID, latency: Int)
    /// Accepts L2CAP channels on a PSM that the service chooses (behaviour 8.1). The answer repeats `number`.
    case publishChannel(needsEncryption: Bool, number: UInt32 = 0)
    /// Stops accepting channels on this PSM, and closes its open channels (behaviour 8.9).
    case unpublishChannel(psm: UInt16)
    /// Starts or stops the reports of centrals that connect and disconnect. Starting reports those already connected
    /// (behaviour 15.15).
    case watchCentrals(Bool)
    /// Ends the link to a central.
    case disconnectCentral(UUID)
}

/// A question of an app to the service, answered by a ``Reply``.
public enum Query: Hashable, Sendable {
    /// The known peripherals among these identifiers, in the same order; unknown ones are left out (behaviour 11.2).
    case peripherals(identifiers: [UUID])
    /// The peripherals connected to this system by any app that have one of the services (behaviour 11.7).
    case connectedPeripherals(services: [BluetoothUUID])
    /// The capabilities of the system and the app's permission. Does not need a manager (behaviours 1.20, 1.25).
    case system
    /// The names of a peripheral.
    case names(UUID)
    /// The counters of the manager's scan.
    case scanCounts
}

/// The answer to the ``Query`` of the same name.
public enum Reply: Hashable, Sendable {
    /// In the order of the query.
    case peripherals([PeerInfo])
    /// In the order of connection.
    case connectedPeripherals([PeerInfo])
    /// The present capabilities and permission.
    case system(SystemInfo)
    /// The names known at present.
    case names(KnownNames)
    /// The counters; nil if the manager is not scanning.
    case scanCounts(ScanCounts?)
}

// The names of requests in messages for developers, which leave out the parameters: those may be as long as an app
// likes (AB-G05).

extension Request {
    package var name: String {
        switch self {
        case .central(let request): request.name
        case .peripheral(let request): request.name
        case .channel(_, let request): "\(request.kind.name) of a channel"
        case .setup(_, let request): "\(request.kind.name)"
        case .activity(_, let begins): begins ? "beginActivity" : "endActivity"
        }
    }
}

extension CentralRequest {
    package var name: String {
        switch self {
        case .peer(_, .link(let request)), .peer(_, .ask(_, let request)): request.name
        case .peer(_, let request): "\(request.kind.name)"
        case .startScan, .stopScan, .watchConnections, .resetScanFilter: "\(kind.name)"
        }
    }
}

extension LinkRequest {
    package var name: String { "\(kind.name)" }
}

extension PeripheralRequest {
    package var name: String { "\(kind.name)" }
}

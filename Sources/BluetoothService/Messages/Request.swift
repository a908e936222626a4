import BluetoothTypes
import Foundation

/// What a manager asks of the service; what comes of it comes as ``Event``s.
///
/// Messages are plain values, whose wire format is described beside them: in one process they are handed over as they are, and
/// a daemon gets them through a socket.
public enum Request: Hashable, Sendable {
    /// Of a central manager.
    case central(CentralRequest)
    /// Of a peripheral manager.
    case peripheral(PeripheralRequest)
    /// Of either, about one of its channels.
    case channel(ChannelID, ChannelRequest)
}

/// What a central manager asks.
public enum CentralRequest: Hashable, Sendable {
    /// Starts a scan, or replaces the parameters of the running one (behaviour 2.6).
    case startScan(ScanRequest)
    /// Ends the scan.
    case stopScan
    /// About one peripheral.
    case peer(UUID, PeerRequest)
    /// Tells of connections by anyone on this system from now on, in place of those asked for before; nil ends it (behaviour
    /// 3.22).
    case watchConnections(ConnectionWatch?)
    /// The scan forgets which devices it has told of.
    case resetScanFilter
}

/// What a central manager asks about one peripheral.
public enum PeerRequest: Hashable, Sendable {
    /// Connects, without a time limit (behaviour 3.1).
    case connect(ConnectOptions)
    /// Gives up a pending or live connection of this manager (behaviours 3.6, 3.7).
    case cancelConnection
    /// The app has let go of its last reference to the peripheral (behaviours 2.20, 3.5).
    case forget
    /// Of the peripheral itself, once it is connected (behaviour 1.7).
    case link(LinkRequest)
    /// The same with a number of the app's, other than 0, which the answer comes with: ``CentralEvent/answered(_:number:_:)``.
    case ask(UInt32, LinkRequest)
}

/// What is asked of a connected peripheral.
public enum LinkRequest: Hashable, Sendable {
    /// Discovers primary services; nil means all.
    case discoverServices([BluetoothUUID]?)
    /// Discovers the services that a service includes; nil means all.
    case discoverIncludedServices(of: AttributeHandle, [BluetoothUUID]?)
    /// Discovers the characteristics of a service; nil means all.
    case discoverCharacteristics(of: AttributeHandle, [BluetoothUUID]?)
    /// Discovers all descriptors of a characteristic.
    case discoverDescriptors(of: AttributeHandle)
    /// Reads a whole value, however long.
    case readCharacteristic(AttributeHandle)
    /// Reads a whole descriptor, however long.
    case readDescriptor(AttributeHandle)
    /// Writes and waits for the answer; long values are prepared and executed (behaviour 5.9).
    case writeCharacteristic(AttributeHandle, value: PacketBuffer)
    /// Writes without an answer. Takes one of the credits that ``PeerEvent/writeCreditsReturned(_:)`` gives back.
    case writeWithoutResponse(AttributeHandle, value: PacketBuffer)
    /// Writes a descriptor.
    case writeDescriptor(AttributeHandle, value: PacketBuffer)
    /// Subscribes or unsubscribes this manager (behaviours 5.16 to 5.18).
    case setNotify(AttributeHandle, isEnabled: Bool)
    /// Reads the signal strength of the link.
    case readRSSI
    /// Opens an L2CAP channel (behaviour 8.5).
    case openChannel(psm: UInt16)
    /// Measures the distance by Channel Sounding.
    case startChannelSounding
    /// Ends measuring.
    case cancelChannelSounding
    /// Forgets what is known of the peer's services, and discovers them anew (behaviour 15.6).
    case refreshServices
    /// Asks what the link is like (behaviour 15.4).
    case readLinkInformation
    /// Tells of changes of the link from now on, or not any more.
    case watchLink(Bool)
    /// Says what would be welcome; nothing is answered.
    case preferLink(LinkPreference)
}

/// What a peripheral manager asks.
public enum PeripheralRequest: Hashable, Sendable {
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
    case respond(transaction: UInt64, ATTStatus, value: PacketBuffer?)
    /// Sends a new value to subscribers; nil means all of them. Takes one of the credits that
    /// ``PeripheralEvent/updateCreditsReturned(_:)`` gives back.
    case updateValue(LocalAttributeID, value: PacketBuffer, centrals: [UUID]?)
    /// Asks the central for faster or slower connection events (behaviour 7.47).
    case setDesiredConnectionLatency(central: UUID, latency: Int)
    /// Takes L2CAP channels of peers, on a PSM that the service picks (behaviour 8.1). The answer repeats the number.
    case publishChannel(needsEncryption: Bool, number: UInt32 = 0)
    /// Takes none any more on this PSM, and closes those that are open (behaviour 8.9).
    case unpublishChannel(psm: UInt16)
    /// Tells of centrals that connect and disconnect from now on, and of those that are connected; or not any more (behaviour 15.15).
    case watchCentrals(Bool)
    /// Ends the link to a central.
    case disconnectCentral(UUID)
}

/// What an app asks and waits for.
public enum Query: Hashable, Sendable {
    /// Known peripherals by identifier, in the order asked, unknown ones left out (behaviour 11.2).
    case peripherals(identifiers: [UUID])
    /// Peripherals connected to this system by anyone that have one of the services (behaviour 11.7).
    case connectedPeripherals(services: [BluetoothUUID])
    /// What the system can do, and what the app may; no manager is needed (behaviours 1.20, 1.25).
    case system
    /// The names of a peripheral.
    case names(UUID)
    /// What the filter of the manager's scan has done.
    case scanCounts
}

/// The answer to a ``Query`` of the same name.
public enum Reply: Hashable, Sendable {
    /// In the order asked.
    case peripherals([PeerInfo])
    /// In the order in which they were connected.
    case connectedPeripherals([PeerInfo])
    /// At this moment.
    case system(SystemInfo)
    /// At this moment.
    case names(KnownNames)
    /// Nil when the manager does not scan.
    case scanCounts(ScanCounts?)
}

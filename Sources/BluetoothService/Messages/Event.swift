import BluetoothTypes
import Foundation

/// What the service tells an app's manager. See ``Request``.
public enum Event: Hashable, Sendable {
    /// The state of the radio for this manager. Always the first event, but for what is restored.
    case stateChanged(ManagerState)
    /// To a central manager.
    case central(CentralEvent)
    /// To a peripheral manager.
    case peripheral(PeripheralEvent)
    /// To either, about one of its channels.
    case channel(ChannelID, ChannelEvent)
}

/// What a central manager is told.
public enum CentralEvent: Hashable, Sendable {
    /// An advertisement was received that the scan asked for; `rssi` in dBm.
    case discovered(PeerInfo, Advertisement, rssi: Int)
    /// About one peripheral.
    case peer(UUID, PeerEvent)
    /// The answer to a request with this number, ``PeerRequest/ask(_:_:)``: what else would come as ``peer(_:_:)``.
    case answered(UUID, number: UInt32, PeerEvent)
    /// A peer that the manager asked about was connected to this system or is not any more, whoever uses it.
    case connectionChanged(PeerInfo, isConnected: Bool)
    /// A peer was not heard for as long as the scan says (behaviour 15.3).
    case lost(PeerInfo)
    /// The manager takes the place of one with its restore identifier. Before all else, the state too (behaviour 10.7).
    case willRestore(RestoredCentral)
}

/// What a central manager is told about one peripheral.
public enum PeerEvent: Hashable, Sendable {
    /// The manager is connected; a write without response takes so many octets.
    case connected(name: String?, maximumWriteWithoutResponse: Int)
    /// An attempt failed for a passing reason (behaviour 3.2).
    case connectionFailed(ServiceError)
    /// The manager is no longer connected; no error when it asked for that (behaviours 3.6, 3.12). The time is in seconds since
    /// the beginning of 2001, UTC; nil when the service has no calendar.
    case disconnected(ServiceError?, isReconnecting: Bool, timestamp: TimeInterval?)
    /// Services that answer the request, those known before included.
    case servicesDiscovered(Result<[RemoteService], ServiceError>)
    /// Services that a service includes.
    case includedServicesDiscovered(of: AttributeHandle, Result<[RemoteService], ServiceError>)
    /// Characteristics of a service.
    case characteristicsDiscovered(of: AttributeHandle, Result<[RemoteCharacteristic], ServiceError>)
    /// Descriptors of a characteristic.
    case descriptorsDiscovered(of: AttributeHandle, Result<[RemoteDescriptor], ServiceError>)
    /// A value was read, or could not be.
    case valueRead(AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A value was notified or indicated.
    case valueNotified(AttributeHandle, PacketBuffer)
    /// A descriptor was read.
    case descriptorUpdated(AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A write with response has ended.
    case valueWritten(AttributeHandle, ServiceError?)
    /// A descriptor write has ended.
    case descriptorWritten(AttributeHandle, ServiceError?)
    /// A subscription was made or ended, or could not be.
    case notifyStateChanged(AttributeHandle, isNotifying: Bool, ServiceError?)
    /// The signal strength was read, in dBm.
    case rssiRead(Result<Int, ServiceError>)
    /// The peer's GAP name is new (behaviour 2.24).
    case nameChanged(String?)
    /// Services of the peer are no longer what they were (behaviour 4.13).
    case servicesModified(invalidated: [AttributeHandle])
    /// The most that a write without response takes has changed (behaviour 5.8).
    case maximumWriteLengthChanged(Int)
    /// Writes without response have left the queue.
    case writeCreditsReturned(Int)
    /// An L2CAP channel was opened, or could not be; in the order of asking (behaviours 8.5, 8.12).
    case channelOpened(psm: UInt16, Result<ChannelID, ServiceError>)
    /// Whether the peer may have this system's notifications was decided (behaviour 3.19).
    case notificationsAuthorized(Bool)
    /// Distances are not measured any more, or could not be.
    case channelSoundingEnded(ServiceError?)
    /// What the link is like now: to who asked, or who wants to know of changes.
    case linkInformation(LinkFacts)
}

/// What a peripheral manager is told.
public enum PeripheralEvent: Hashable, Sendable {
    /// A service was published, or could not be.
    case serviceAdded(LocalAttributeID, ServiceError?)
    /// Advertising began, or could not; the number is that of the request.
    case advertisingStarted(ServiceError?, number: UInt32 = 0)
    /// A central subscribed.
    case subscribed(CentralInfo, LocalAttributeID)
    /// A central unsubscribed or is gone.
    case unsubscribed(CentralInfo, LocalAttributeID)
    /// A central reads a value that the app answers for.
    case readRequested(transaction: UInt64, CentralInfo, LocalAttributeID, offset: Int)
    /// A central writes; all or nothing (behaviour 7.35). Write commands need no response (behaviour 7.36).
    case writeRequested(transaction: UInt64, CentralInfo, [WriteRequest], needsResponse: Bool)
    /// Updates have left the queue.
    case updateCreditsReturned(Int)
    /// What is known of a central has changed.
    case centralChanged(CentralInfo)
    /// L2CAP channels are taken on this PSM from now on; 0 and an error when they cannot be. The number is that of the request.
    case channelPublished(psm: UInt16, ServiceError?, number: UInt32 = 0)
    /// They are taken no longer on this PSM, or never were.
    case channelUnpublished(psm: UInt16, ServiceError?)
    /// A central has opened a channel (behaviour 8.10).
    case channelOpened(psm: UInt16, CentralInfo, ChannelID)
    /// A central is connected; to a manager that watches them (behaviour 15.15).
    case centralConnected(CentralInfo)
    /// A central is connected no longer; no error when this system ended the link.
    case centralDisconnected(UUID, ServiceError?)
    /// The link to a central is over, or cannot be ended: the answer to ``PeripheralRequest/disconnectCentral(_:)``.
    case centralReleased(UUID, ServiceError?)
    /// The manager takes the place of one with its restore identifier. Before all else, the state too (behaviour 10.7).
    case willRestore(RestoredPeripheral)
}

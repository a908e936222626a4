import BluetoothTypes
import Foundation

/// An event that the service sends to a manager of an app. See ``Request``.
public enum Event: Hashable, Sendable {
    /// The radio state as it applies to this manager. The first event, unless the manager is restored.
    case stateChanged(ManagerState)
    /// An event for a central manager.
    case central(CentralEvent)
    /// An event for a peripheral manager.
    case peripheral(PeripheralEvent)
    /// An event of one of the manager's channels.
    case channel(ChannelID, ChannelEvent)
    /// An event for a session of AccessorySetupKit.
    case setup(SetupEvent)
    /// The system has ended the Live Activity with this number, or it or the user has removed it (behaviour 9.25).
    case activity(UInt32, isRemoved: Bool)
}

/// An event for a central manager.
public enum CentralEvent: Hashable, Sendable {
    /// The scan found an advertisement; `rssi` is in dBm.
    case discovered(PeerInfo, Advertisement, rssi: Int)
    /// An event of one peripheral.
    case peer(UUID, PeerEvent)
    /// The answer to the request with this number (``PeerRequest/ask(_:_:)``), in place of ``peer(_:_:)``.
    case answered(UUID, number: UInt32, PeerEvent)
    /// A peer that the manager watches has connected to this system or disconnected from it, whichever app uses it.
    case connectionChanged(PeerInfo, isConnected: Bool)
    /// A peer has been silent for longer than the scan allows (behaviour 15.3).
    case lost(PeerInfo)
    /// The manager replaces one with its restore identifier. Precedes all other events, including the state
    /// (behaviour 10.7).
    case willRestore(RestoredCentral)
}

/// An event of one peripheral, for a central manager.
public enum PeerEvent: Hashable, Sendable {
    /// The manager is connected; `maximumWriteWithoutResponse` is in octets.
    case connected(name: String?, maximumWriteWithoutResponse: Int)
    /// A connection attempt failed for a temporary reason (behaviour 3.2).
    case connectionFailed(ServiceError)
    /// The manager is no longer connected. The error is nil if the manager cancelled the connection (behaviours 3.6,
    /// 3.12). The time stamp is in seconds since the beginning of 2001, UTC; nil if the service has no calendar.
    case disconnected(ServiceError?, isReconnecting: Bool, timestamp: TimeInterval?)
    /// The services that match the request, including those discovered before.
    case servicesDiscovered(Result<[RemoteService], ServiceError>)
    /// The services that a service includes.
    case includedServicesDiscovered(of: AttributeHandle, Result<[RemoteService], ServiceError>)
    /// The characteristics of a service.
    case characteristicsDiscovered(of: AttributeHandle, Result<[RemoteCharacteristic], ServiceError>)
    /// The descriptors of a characteristic.
    case descriptorsDiscovered(of: AttributeHandle, Result<[RemoteDescriptor], ServiceError>)
    /// A value was read, or reading it failed.
    case valueRead(AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A value was notified or indicated.
    case valueNotified(AttributeHandle, PacketBuffer)
    /// A descriptor was read, or reading it failed.
    case descriptorUpdated(AttributeHandle, Result<PacketBuffer, ServiceError>)
    /// A write with response has completed.
    case valueWritten(AttributeHandle, ServiceError?)
    /// A descriptor write has completed.
    case descriptorWritten(AttributeHandle, ServiceError?)
    /// A subscription started or ended, or the request for it failed.
    case notifyStateChanged(AttributeHandle, isNotifying: Bool, ServiceError?)
    /// The signal strength of the link, in dBm.
    case rssiRead(Result<Int, ServiceError>)
    /// The peer's GAP name has changed (behaviour 2.24).
    case nameChanged(String?)
    /// Services of the peer have changed; the handles are those of invalidated attributes (behaviour 4.13).
    case servicesModified(invalidated: [AttributeHandle])
    /// The maximum length of a write without response has changed, in octets (behaviour 5.8).
    case maximumWriteLengthChanged(Int)
    /// This many writes without response have left the queue.
    case writeCreditsReturned(Int)
    /// An L2CAP channel was opened, or opening it failed. Reported in the order of the requests (behaviours 8.5, 8.12).
    case channelOpened(psm: UInt16, Result<ChannelID, ServiceError>)
    /// Whether the peer may receive this system's notifications (behaviour 3.19).
    case notificationsAuthorized(Bool)
    /// A distance in metres, or why it could not be measured.
    case channelSoundingMeasured(Result<Double, ServiceError>)
    /// The distance measurement has ended, or could not be started.
    case channelSoundingEnded(ServiceError?)
    /// The properties of the link, after a request for them or for a manager that watches the link.
    case linkInformation(LinkFacts)
}

/// An event for a peripheral manager.
public enum PeripheralEvent: Hashable, Sendable {
    /// A service was published, or publishing it failed.
    case serviceAdded(LocalAttributeID, ServiceError?)
    /// Advertising started, or failed to start; `number` is that of the request.
    case advertisingStarted(ServiceError?, number: UInt32 = 0)
    /// A central subscribed to a characteristic.
    case subscribed(CentralInfo, LocalAttributeID)
    /// A central unsubscribed or disconnected.
    case unsubscribed(CentralInfo, LocalAttributeID)
    /// A central reads a value that the app provides.
    case readRequested(transaction: UInt64, CentralInfo, LocalAttributeID, offset: Int)
    /// A central writes values; the app accepts all of them or none (behaviour 7.35). Write commands need no response
    /// (behaviour 7.36).
    case writeRequested(transaction: UInt64, CentralInfo, [WriteRequest], needsResponse: Bool)
    /// This many updates have left the queue.
    case updateCreditsReturned(Int)
    /// The properties of a central have changed.
    case centralChanged(CentralInfo)
    /// L2CAP channels are accepted on this PSM; 0 and an error if they cannot be. `number` is that of the request.
    case channelPublished(psm: UInt16, ServiceError?, number: UInt32 = 0)
    /// L2CAP channels are no longer accepted on this PSM; the error is set if they never were.
    case channelUnpublished(psm: UInt16, ServiceError?)
    /// A central has opened a channel (behaviour 8.10).
    case channelOpened(psm: UInt16, CentralInfo, ChannelID)
    /// A central has connected; for a manager that watches centrals (behaviour 15.15).
    case centralConnected(CentralInfo)
    /// A central has disconnected; the error is nil if this system ended the link.
    case centralDisconnected(UUID, ServiceError?)
    /// The link to a central has ended, or cannot be ended. The answer to ``PeripheralRequest/disconnectCentral(_:)``.
    case centralReleased(UUID, ServiceError?)
    /// The manager replaces one with its restore identifier. Precedes all other events, including the state
    /// (behaviour 10.7).
    case willRestore(RestoredPeripheral)
}

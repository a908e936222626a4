import BluetoothTypes

/// The state of a central manager that replaces one whose process has ended. It is the state at that time; later
/// changes are reported as events (behaviours 10.3, 10.7 to 10.10).
public struct RestoredCentral: Hashable, Sendable {
    /// The scan that continues; nil for none.
    public var scan: ScanRequest?
    /// The peripherals that are connected or that the manager waits for.
    public var peers: [RestoredPeer]

    /// Creates the state of an idle manager.
    public init() { self.init(peers: []) }

    /// Creates the state of a manager.
    ///
    /// - Parameters:
    ///   - scan: The scan that continues; nil for none.
    ///   - peers: The peripherals that are connected or that the manager waits for.
    public init(scan: ScanRequest? = nil, peers: [RestoredPeer]) {
        self.scan = scan
        self.peers = peers
    }
}

/// A peripheral of a ``RestoredCentral``.
public struct RestoredPeer: Hashable, Sendable {
    /// The peripheral's identifier and name.
    public var info: PeerInfo
    /// The maximum length of a write without response, in octets; nil while the peripheral is not connected.
    public var maximumWriteWithoutResponse: Int?
    /// The services that the manager had discovered.
    public var services: [RestoredService]

    /// Creates a placeholder, to decode into.
    public init() { self.init(info: PeerInfo()) }

    /// Creates the state of a peripheral.
    ///
    /// - Parameters:
    ///   - info: The identifier and the name.
    ///   - maximumWriteWithoutResponse: The maximum length of a write without response, in octets; nil while the
    ///     peripheral is not connected.
    ///   - services: The services that the manager had discovered.
    public init(info: PeerInfo, maximumWriteWithoutResponse: Int? = nil, services: [RestoredService] = []) {
        self.info = info
        self.maximumWriteWithoutResponse = maximumWriteWithoutResponse
        self.services = services
    }
}

/// A service of a ``RestoredPeer``.
public struct RestoredService: Hashable, Sendable {
    /// The service, as it was discovered.
    public var service: RemoteService
    /// The services that it includes, as far as they have been discovered.
    public var includedServices: [RemoteService]
    /// Its characteristics, as far as they have been discovered.
    public var characteristics: [RestoredCharacteristic]

    /// Creates a placeholder, to decode into.
    public init() { self.init(service: RemoteService()) }

    /// Creates the state of a service.
    ///
    /// - Parameters:
    ///   - service: The service, as it was discovered.
    ///   - includedServices: The services that it includes, as far as they have been discovered.
    ///   - characteristics: Its characteristics, as far as they have been discovered.
    public init(
        service: RemoteService,
        includedServices: [RemoteService] = [],
        characteristics: [RestoredCharacteristic] = []
    ) {
        self.service = service
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// A characteristic of a ``RestoredService``.
public struct RestoredCharacteristic: Hashable, Sendable {
    /// The characteristic, as it was discovered.
    public var characteristic: RemoteCharacteristic
    /// Whether the manager is subscribed to it.
    public var isNotifying: Bool
    /// Its descriptors, as far as they have been discovered.
    public var descriptors: [RemoteDescriptor]

    /// Creates a placeholder, to decode into.
    public init() { self.init(characteristic: RemoteCharacteristic()) }

    /// Creates the state of a characteristic.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic, as it was discovered.
    ///   - isNotifying: Whether the manager is subscribed to it.
    ///   - descriptors: Its descriptors, as far as they have been discovered.
    public init(
        characteristic: RemoteCharacteristic,
        isNotifying: Bool = false,
        descriptors: [RemoteDescriptor] = []
    ) {
        self.characteristic = characteristic
        self.isNotifying = isNotifying
        self.descriptors = descriptors
    }
}

/// The state of a peripheral manager that replaces one whose process has ended (behaviours 10.3, 10.12).
public struct RestoredPeripheral: Hashable, Sendable {
    /// The published services, in the order of publishing.
    public var services: [LocalService]
    /// The subscriptions of centrals.
    public var subscriptions: [RestoredSubscription]
    /// The current advertisement; nil for none.
    public var advertising: AdvertisingRequest?

    /// Creates the state of an idle manager.
    public init() { self.init(services: []) }

    /// Creates the state of a manager.
    ///
    /// - Parameters:
    ///   - services: The published services, in the order of publishing.
    ///   - subscriptions: The subscriptions of centrals.
    ///   - advertising: The current advertisement; nil for none.
    public init(
        services: [LocalService],
        subscriptions: [RestoredSubscription] = [],
        advertising: AdvertisingRequest? = nil
    ) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertising = advertising
    }
}

/// A subscription of a central to a characteristic of a ``RestoredPeripheral``.
public struct RestoredSubscription: Hashable, Sendable {
    /// The central that is subscribed.
    public var central: CentralInfo
    /// The characteristic that it is subscribed to.
    public var characteristic: LocalAttributeID

    /// Creates a placeholder, to decode into.
    public init() { self.init(central: CentralInfo(), characteristic: LocalAttributeID(0)) }

    /// Creates a subscription of a central.
    ///
    /// - Parameters:
    ///   - central: The central that is subscribed.
    ///   - characteristic: The characteristic that it is subscribed to.
    public init(central: CentralInfo, characteristic: LocalAttributeID) {
        self.central = central
        self.characteristic = characteristic
    }
}

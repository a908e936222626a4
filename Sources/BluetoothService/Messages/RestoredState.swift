import BluetoothTypes

/// What a central manager finds that takes the place of one whose app has ended: as it was then, and what has happened since comes as
/// events (behaviours 10.3, 10.7 to 10.10).
public struct RestoredCentral: Hashable, Sendable {
    /// The scan that goes on; nil for none.
    public var scan: ScanRequest?
    /// The peripherals that are connected, or are to be.
    public var peers: [RestoredPeer]

    /// A manager with nothing going on.
    public init() { self.init(peers: []) }

    /// A manager.
    public init(scan: ScanRequest? = nil, peers: [RestoredPeer]) {
        self.scan = scan
        self.peers = peers
    }
}

/// A peripheral of a ``RestoredCentral``.
public struct RestoredPeer: Hashable, Sendable {
    /// Who it is.
    public var info: PeerInfo
    /// The most octets of a write without response; nil while it is not connected.
    public var maximumWriteWithoutResponse: Int?
    /// What the manager had found of it.
    public var services: [RestoredService]

    /// Nobody.
    public init() { self.init(info: PeerInfo()) }

    /// A peripheral.
    public init(info: PeerInfo, maximumWriteWithoutResponse: Int? = nil, services: [RestoredService] = []) {
        self.info = info
        self.maximumWriteWithoutResponse = maximumWriteWithoutResponse
        self.services = services
    }
}

/// A service of a ``RestoredPeer``.
public struct RestoredService: Hashable, Sendable {
    /// What it is.
    public var service: RemoteService
    /// The services that it includes, as far as they were discovered.
    public var includedServices: [RemoteService]
    /// Its characteristics, as far as they were discovered.
    public var characteristics: [RestoredCharacteristic]

    /// A service without anything.
    public init() { self.init(service: RemoteService()) }

    /// A service.
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
    /// What it is.
    public var characteristic: RemoteCharacteristic
    /// Whether the manager has subscribed to it.
    public var isNotifying: Bool
    /// Its descriptors, as far as they were discovered.
    public var descriptors: [RemoteDescriptor]

    /// A characteristic without anything.
    public init() { self.init(characteristic: RemoteCharacteristic()) }

    /// A characteristic.
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

/// What a peripheral manager finds that takes the place of one whose app has ended (behaviours 10.3, 10.12).
public struct RestoredPeripheral: Hashable, Sendable {
    /// What is published, in the order of publishing.
    public var services: [LocalService]
    /// Who has subscribed to what.
    public var subscriptions: [RestoredSubscription]
    /// What is advertised; nil for nothing.
    public var advertising: AdvertisingRequest?

    /// A manager with nothing going on.
    public init() { self.init(services: []) }

    /// A manager.
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

/// A central that has subscribed to a characteristic of a ``RestoredPeripheral``.
public struct RestoredSubscription: Hashable, Sendable {
    /// Whose it is.
    public var central: CentralInfo
    /// To what.
    public var characteristic: LocalAttributeID

    /// Nobody's.
    public init() { self.init(central: CentralInfo(), characteristic: LocalAttributeID(0)) }

    /// A subscription.
    public init(central: CentralInfo, characteristic: LocalAttributeID) {
        self.central = central
        self.characteristic = characteristic
    }
}

/// The limits on what apps and tools may ask of the service (AB-G05). `Documentation/Limits.md` lists them, with the
/// error that reports each, and `Scripts/limits.py` compares that list with the code.
public enum ServiceLimits {
    /// Writes without response, per manager and peripheral, that wait for the controller at a time (behaviour 5.14).
    public static let writesWithoutResponse = 20
    /// Value updates, per manager, that wait for the controller at a time.
    public static let valueUpdates = 20
    /// Managers of one process, and managers kept of one app.
    public static let managers = 64
    /// L2CAP channels of a manager, including ended ones with unread octets.
    public static let channels = 64
    /// Octets, per channel and direction, that are on their way between an app and the service at a time.
    public static let channelWindow = 32_768
    /// Events of a manager with a restore identifier that its process was sent and has not read. The service keeps them
    /// for the next process.
    public static let unreadEvents = 1_024
    /// Octets of a message. No request that Core Bluetooth allows comes close.
    public static let message = 1 << 20
    /// Accessories that apps have set up.
    package static let accessories = Quota(app: 64, user: 256, total: 1_024)
    /// Live Activities of an app at a time (behaviour 9.22).
    package static let activities = 5
}

// MARK: - Lists in messages

extension ServiceLimits {
    /// Services of a scan, solicited services of a scan, and services of a retrieval of connected peripherals.
    package static let scannedServices = 256
    /// Attribute types of a discovery.
    package static let discoveredTypes = 512
    /// Identifiers of a retrieval. `CBCentralManager` retrieves more in several steps.
    package static let identifiers = 1_024
    /// Centrals that a value update names.
    package static let centrals = 256
    /// Services of an advertisement.
    package static let advertisedServices = 128
    /// Service data of an advertisement.
    package static let advertisedData = 16
    /// Services that a service includes.
    package static let includedServices = 64
    /// Characteristics of a service.
    package static let characteristics = 512
    /// Descriptors of a characteristic.
    package static let descriptors = 64
    /// Arguments of a launch command, the program included.
    package static let launchArguments = 64
    /// Display items of a picker.
    package static let pickerItems = 64
    /// Accessories that a picker offers.
    package static let pickerOffers = 64
    /// Services, names or company identifiers in the declaration of an app that uses AccessorySetupKit.
    package static let setupTraits = 256
    /// Services of a peer.
    package static let remoteServices = 256
    /// Services, or service data, in a received advertisement.
    package static let receivedServices = 256
    /// Parts of a long write of a central.
    package static let preparedWrites = 128
    /// Subscriptions in the state that a peripheral manager is restored with.
    package static let restoredSubscriptions = 4_096
    /// Requests to repeat in the record of a manager.
    package static let keptRequests = 512
    /// Octets of the services in the state that a central manager is restored with. The app discovers the services of
    /// other peripherals again.
    package static let restoredServiceOctets = 512 << 10
    /// Octets of the services of a lost peripheral in that state.
    package static let endedServiceOctets = 16 << 10
}

// MARK: - Resources of managers

extension ServiceLimits {
    /// Peripherals that a manager is connected to, or waits for.
    package static let peersOfManager = 256
    /// Services of a manager.
    package static let servicesOfManager = 256
    /// Managers, including kept ones.
    package static let sharedManagers = Quota(app: 128, user: 256, total: 1_024)
    /// Scans that run at the same time.
    package static let scans = Quota(app: 32, user: 64, total: 256)
    /// Peripherals that managers are connected to, or wait for.
    package static let peers = Quota(app: 256, user: 512, total: 1_024)
    /// Attributes in the table that all apps publish in.
    package static let attributes = Quota(app: 512, user: 1_024, total: 4_064)
    /// PSMs on which managers accept L2CAP channels.
    package static let publishedChannels = Quota(app: 16, user: 32, total: 128)
    /// L2CAP channels of managers of both roles, to all devices.
    package static let sharedChannels = Quota(app: 64, user: 128, total: 512)
    /// L2CAP channels of an app to one device, half of what a link can have (`L2CAPConnection.maximumDynamicChannels`).
    package static let channelsToPeer = 16
    /// Managers that advertise at the same time.
    package static let advertisers = Quota(app: 8, user: 16, total: 64)
}

// MARK: - Queues and preserved state

extension ServiceLimits {
    /// Procedures that wait on one link.
    package static let linkRequests = Quota(app: 256, user: 512, total: 1_024)
    /// Changes of the subscription to one characteristic that wait.
    package static let subscriptionChanges = 64
    /// Changes of the subscription to one characteristic that wait, of one manager.
    package static let subscriptionChangesOfManager = 16
    /// Requests that wait until a suspended app runs.
    package static let heldRequests = 4_096
    /// Octets of those requests.
    package static let heldOctets = 2 << 20
    /// Apps that wait for the user to allow them Bluetooth. Each waits with one question.
    package static let permissionQuestions = Quota(app: 1, user: 16, total: 48)
    /// Event streams of tools.
    package static let monitors = Quota(user: 16, total: 48)
    /// Tools that show prompts to the user.
    package static let prompters = Quota(user: 8, total: 16)
    /// Streams of packets of tools.
    package static let packetStreams = Quota(user: 4, total: 16)
    /// Processes that are connected to the service.
    package static let clients = Quota(user: 64, total: 256)
    /// Apps whose managers are in a record on disk.
    package static let recordedApps = Quota(user: 48, total: 64)
}

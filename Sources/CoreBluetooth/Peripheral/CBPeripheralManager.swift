import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// Publishes services, advertises them, and serves centrals. Its delegate is called on the queue given at creation.
open class CBPeripheralManager: CBManager, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: @unchecked Sendable {
        // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
        weak var delegate: (any CBPeripheralManagerDelegate)?
        var published = PublishedServices()
        var centrals: [UUID: WeakCentral] = [:]
        /// Start was the last request about advertising.
        var wantsAdvertising = false
        /// The service has said that it advertises.
        var isAdvertising = false
        /// Updates that the service takes before it gives some back.
        var updateCredits = ServiceLimits.valueUpdates
        /// An update had no room, and the app waits to hear of some.
        var hasRefusedUpdate = false
        /// Who has the first say when there is room again: the delegate, or those who wait beside it.
        var isDelegatesTurn = false
        /// Whom each update is for that the service has taken, the oldest first; nil for all subscribers.
        var pendingUpdates: [(characteristic: LocalAttributeID, centrals: [UUID]?)] = []
        /// Who stands beside the delegate.
        var observer: (any PeripheralManagerObserver)?
    }

    struct WeakCentral: Sendable {
        weak var central: CBCentral?
    }

    let contents: Mutex<Contents>

    /// A manager without a delegate, on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager without options; without a queue it is the main queue.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager.
    ///
    /// - Parameters:
    ///   - queue: Where the delegate is called; nil means the main queue, which has to run: `dispatchMain()` or a run loop.
    ///   - options: By the `CBPeripheralManagerOption` keys.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?,
        queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        contents = Mutex(Contents(delegate: delegate))
        let given = OptionDictionary(options)
        let asked = ManagerOptions(
            showsPowerAlert: given.flag(CBPeripheralManagerOptionShowPowerAlertKey) ?? false,
            restoreIdentifier: given.text(CBPeripheralManagerOptionRestoreIdentifierKey)
        )
        super.init(role: .peripheral, options: asked, queue: queue)
    }

    override func receive(_ event: Event) { handle(event) }

    /// Hears what becomes of the requests, and what centrals ask for.
    open var delegate: (any CBPeripheralManagerDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// Whether this manager advertises.
    open var isAdvertising: Bool {
        // Without power advertising pauses, and goes on by itself afterwards (behaviour 1.14). One that is restored goes on before the state
        // is known (behaviour 10.12).
        contents.withLock { $0.isAdvertising } && (state == .poweredOn || state == .unknown)
    }

    /// Whether this app may be a peripheral, as old code asks.
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
    }

    // MARK: Publishing

    /// Publishes a service as it is now; services that it includes come first.
    ///
    /// - Precondition: Its characteristics are ``CBMutableCharacteristic`` objects, and those with a value read-only.
    open func add(_ service: CBMutableService) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManager(self, didAdd: service, error: error)
        }
        guard let link = linkForCommand("add", refuse) else { return }
        link.send(PeripheralRequest.addService(contents.withLock { $0.published.add(service) }))
    }

    /// Takes a service back; services that include it go first.
    open func remove(_ service: CBMutableService) {
        guard let link = linkForCommand() else { return }
        guard let id = contents.withLock({ $0.published.remove(service) }) else {
            return Misuse.report("\(service) is not published by \(self)")
        }
        link.send(PeripheralRequest.removeService(id))
    }

    /// Takes all services of this manager back.
    open func removeAllServices() {
        guard let link = linkForCommand() else { return }
        contents.withLock { $0.published.removeAll() }
        link.send(PeripheralRequest.removeAllServices)
    }

    // MARK: Advertising

    /// Advertises until ``stopAdvertising()``.
    ///
    /// - Parameter advertisementData: A name by `CBAdvertisementDataLocalNameKey`, services by
    ///   `CBAdvertisementDataServiceUUIDsKey`, or both. Other keys have no effect (behaviour 7.15).
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManagerDidStartAdvertising(self, error: error)
        }
        guard let link = linkForCommand("startAdvertising", refuse) else { return }
        let data = OptionDictionary(advertisementData)
        let ignored = data.keys(except: CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey)
        if !ignored.isEmpty {
            let text = "only a name and services can be advertised, without \(ignored.joined(separator: ", "))"
            guard !Misuse.isStrict else { return misused("\(self): \(text)", .invalidParameters, refuse) }
            Misuse.warn("\(self): \(text)")
        }
        let request = AdvertisingRequest(
            localName: data.text(CBAdvertisementDataLocalNameKey),
            services: data.uuids(CBAdvertisementDataServiceUUIDsKey).values
        )
        contents.withLock { $0.wantsAdvertising = true }
        link.send(PeripheralRequest.startAdvertising(request))
    }

    /// Ends advertising.
    open func stopAdvertising() {
        guard let link = linkForCommand() else { return }
        contents.withLock {
            $0.wantsAdvertising = false
            $0.isAdvertising = false
        }
        link.send(PeripheralRequest.stopAdvertising)
    }

    // MARK: Channels

    /// Takes L2CAP channels of centrals, under a number that the delegate hears. Centrals have to be told it, for instance in a
    /// characteristic of the type `CBUUIDL2CAPPSMCharacteristicString` (behaviour 8.3).
    ///
    /// - Parameter encryptionRequired: Whether a central has to be paired.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard let link = linkForCommand() else { return }
        link.send(PeripheralRequest.publishChannel(needsEncryption: encryptionRequired))
    }

    /// Takes none any more under this number, and closes those that are open.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard let link = linkForCommand() else { return }
        link.send(PeripheralRequest.unpublishChannel(psm: PSM))
    }

    // MARK: Serving

    /// Answers a read or write; for several writes once, with the first request.
    ///
    /// - Parameter result: `success`, or why not; any raw value up to 0xFF can be sent.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard linkForCommand() != nil else { return }
        if !answer(request, result, value: request.value) { Misuse.report("\(request) has been answered already") }
    }

    /// Sends a new value to subscribers.
    ///
    /// - Parameter centrals: Who gets it; nil means all. Those that have not subscribed are passed over.
    /// - Returns: False when there was no room, or no power, and nothing was sent; the delegate hears when there is (behaviour 7.43).
    @discardableResult
    open func updateValue(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard let link = linkForCommand() else {
            contents.withLock { $0.hasRefusedUpdate = true }
            return false
        }
        switch send(value, characteristic, centrals, over: link, isRemembered: true) {
        case .unknown:
            Misuse.report("\(characteristic) is not published by \(self); its value cannot be updated")
            return false
        case .sent: return true
        case .full, .withdrawn, .off: return false
        }
    }

    /// Asks a central to listen more or less often. It need not comply, and nobody says whether it does.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        guard let link = linkForCommand() else { return }
        link.send(PeripheralRequest.setDesiredConnectionLatency(central: central.identifier, latency: latency.rawValue))
    }
}

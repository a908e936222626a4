import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// Publishes services, advertises them, and serves the requests of centrals.
///
/// Wait for the state `poweredOn` before you use a manager; in other states commands have no effect but a line in the
/// log (behaviour 1.6). All apps share one attribute table, in which each sees and changes its own services
/// (behaviour 7.11). Advertising is shared as well and ends with the manager (behaviour 13.6).
///
/// Methods may be called from any thread. The delegate is called on the queue given at creation (behaviour 13.1).
open class CBPeripheralManager: CBManager, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    struct Contents: @unchecked Sendable {
        // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
        weak var delegate: (any CBPeripheralManagerDelegate)?
        var published = PublishedServices()
        var centrals: [UUID: WeakCentral] = [:]
        /// Whether the app asked last to start advertising, not to stop.
        var wantsAdvertising = false
        /// Whether the service has reported that it advertises.
        var isAdvertising = false
        /// The number of updates that the service accepts before it returns credits.
        var updateCredits = ServiceLimits.valueUpdates
        /// Whether an update was refused, so that the delegate has to be told when there is room.
        var hasRefusedUpdate = false
        /// Whether the delegate is told first when there is room, or the observer.
        var isDelegatesTurn = false
        /// The updates that the service has accepted and not passed on, the oldest first. Nil stands for all
        /// subscribers.
        var pendingUpdates: [(characteristic: LocalAttributeID, centrals: [UUID]?)] = []
        /// The observer of another module, which is notified in addition to the delegate.
        var observer: (any PeripheralManagerObserver)?
    }

    struct WeakCentral: Sendable {
        weak var central: CBCentral?
    }

    let contents: Mutex<Contents>

    /// Creates a manager without a delegate, on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// Creates a manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, held weakly (behaviour 13.5).
    ///   - queue: The queue on which the delegate is called; nil means the main queue, which `dispatchMain()` or a run
    ///     loop has to run.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    ///
    /// The state is `unknown` until the first call of
    /// ``CBPeripheralManagerDelegate/peripheralManagerDidUpdateState(_:)``, which comes after the initializer has
    /// returned (behaviour 1.1). The first manager of an app makes the system ask the user for permission if that is
    /// not determined (behaviour 1.18).
    ///
    /// - Parameters:
    ///   - delegate: The delegate, held weakly (behaviour 13.5).
    ///   - queue: The queue on which the delegate is called; nil means the main queue, which `dispatchMain()` or a run
    ///     loop has to run.
    ///   - options: The options, by the `CBPeripheralManagerOption` keys.
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

    /// The delegate, held weakly (behaviour 13.5). It is called on the manager's queue.
    open var delegate: (any CBPeripheralManagerDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// Whether this manager advertises.
    ///
    /// It becomes true right before ``CBPeripheralManagerDelegate/peripheralManagerDidStartAdvertising(_:error:)`` is
    /// called (behaviour 7.16). It is false while Bluetooth is off; advertising resumes with the power
    /// (behaviour 1.14).
    open var isAdvertising: Bool {
        // Advertising pauses without power and resumes by itself (behaviour 1.14). A restored manager advertises before
        // its state is known (behaviour 10.12).
        contents.withLock { $0.isAdvertising } && (state == .poweredOn || state == .unknown)
    }

    /// Returns the app's permission to use Bluetooth: an old form of ``CBManager/authorization``. The call blocks until
    /// the service has answered.
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
    }

    // MARK: Publishing

    /// Publishes a copy of a service with its characteristics and descriptors (behaviour 7.2).
    ///
    /// The outcome is reported to ``CBPeripheralManagerDelegate/peripheralManager(_:didAdd:error:)`` (behaviour 7.1).
    /// Services that the system itself provides are refused with ``CBError/uuidNotAllowed`` (behaviour 7.10). Publish
    /// the services that this one includes first (behaviour 7.9). With CoreBluetoothExtras, the asynchronous `add(_:)`
    /// throws where this method traps.
    ///
    /// - Parameter service: The service.
    /// - Precondition: The characteristics are ``CBMutableCharacteristic`` objects, and those with a value are
    ///   read-only (behaviour 7.4).
    open func add(_ service: CBMutableService) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManager(self, didAdd: service, error: error)
        }
        guard let link = linkForCommand("add", refuse) else { return }
        link.send(PeripheralRequest.addService(contents.withLock { $0.published.add(service) }))
    }

    /// Removes a published service. There is no callback; clients are told by Service Changed (behaviours 7.12, 7.51).
    ///
    /// Remove the services that include this one first (behaviour 7.9).
    ///
    /// - Parameter service: The object that was published. If it is not published the call is misuse.
    open func remove(_ service: CBMutableService) {
        guard let link = linkForCommand() else { return }
        guard let id = contents.withLock({ $0.published.remove(service) }) else {
            return Misuse.report("\(service) is not published by \(self)")
        }
        link.send(PeripheralRequest.removeService(id))
    }

    /// Removes all services of this manager. There is no callback (behaviour 7.51).
    open func removeAllServices() {
        guard let link = linkForCommand() else { return }
        contents.withLock { $0.published.removeAll() }
        link.send(PeripheralRequest.removeAllServices)
    }

    // MARK: Advertising

    /// Starts to advertise, until ``stopAdvertising()`` (behaviour 7.16).
    ///
    /// The outcome is reported to ``CBPeripheralManagerDelegate/peripheralManagerDidStartAdvertising(_:error:)``. While
    /// this manager is advertising it is ``CBError/alreadyAdvertising`` (behaviour 7.17).
    ///
    /// In the foreground there are 28 octets for name and services. Services without room go to the overflow area, and
    /// the name may be shortened (behaviours 7.18, 7.21, 7.22). In the background the name is left out
    /// (behaviour 7.24). With CoreBluetoothExtras, manufacturer and service data can be advertised as well
    /// (behaviour 15.16).
    ///
    /// - Parameter advertisementData: A name under `CBAdvertisementDataLocalNameKey`, services under
    ///   `CBAdvertisementDataServiceUUIDsKey`, or both. Other keys are ignored, with a line in the log
    ///   (behaviour 7.15).
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManagerDidStartAdvertising(self, error: error)
        }
        guard let link = linkForCommand("startAdvertising", refuse) else { return }
        let data = OptionDictionary(advertisementData)
        let ignored = data.keys(except: CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey)
        if !ignored.isEmpty {
            let text = "only a local name and services can be advertised, not \(ignored.joined(separator: ", "))"
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

    /// Stops advertising. There is no callback (behaviour 7.27).
    open func stopAdvertising() {
        guard let link = linkForCommand() else { return }
        contents.withLock {
            $0.wantsAdvertising = false
            $0.isAdvertising = false
        }
        link.send(PeripheralRequest.stopAdvertising)
    }

    // MARK: Channels

    /// Accepts L2CAP channels from centrals, on a PSM that the system selects (behaviours 8.1, 8.2).
    ///
    /// The PSM is reported to ``CBPeripheralManagerDelegate/peripheralManager(_:didPublishL2CAPChannel:error:)``.
    /// Centrals cannot discover it, so publish it, for instance in a characteristic of the type
    /// `CBUUIDL2CAPPSMCharacteristicString` (behaviour 8.3).
    ///
    /// - Parameter encryptionRequired: Whether a central has to be paired, and the link encrypted (behaviour 8.4).
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManager(self, didPublishL2CAPChannel: 0, error: error)
        }
        guard let link = linkForCommand(#function, refuse) else { return }
        link.send(PeripheralRequest.publishChannel(needsEncryption: encryptionRequired))
    }

    /// Stops accepting L2CAP channels on a PSM, and closes those that are open on it (behaviour 8.9).
    ///
    /// The outcome is reported to ``CBPeripheralManagerDelegate/peripheralManager(_:didUnpublishL2CAPChannel:error:)``.
    ///
    /// - Parameter PSM: A PSM that this manager has published.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: PSM, error: error)
        }
        guard let link = linkForCommand(#function, refuse) else { return }
        link.send(PeripheralRequest.unpublishChannel(psm: PSM))
    }

    // MARK: Serving

    /// Answers a read or a write. Several writes of one callback have one answer, with the first request
    /// (behaviour 7.35).
    ///
    /// Each callback has to be answered exactly once; until then that central's next request waits (behaviour 7.33).
    /// Answering a write without response does no harm and sends nothing (behaviour 7.36). A second answer is misuse.
    ///
    /// - Parameters:
    ///   - request: The request. For a read, set its `value` first.
    ///   - result: `success`, or the reason for a refusal. Any raw value up to 0xFF can be sent.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard linkForCommand() != nil else { return }
        if !answer(request, result, value: request.value) { Misuse.report("\(request) has already been answered") }
    }

    /// Sends a new value of a characteristic to its subscribers, as a notification or an indication.
    ///
    /// The value is sent to each central once, and cut at its ``CBCentral/maximumUpdateValueLength`` (behaviours 7.44,
    /// 7.52). Do not repeat the call in a loop while it returns false: on the delegate's queue that keeps the callback
    /// from coming (behaviour 7.46).
    ///
    /// - Parameters:
    ///   - value: The value. The characteristic's `value` does not change.
    ///   - characteristic: A published characteristic. For any other the call is misuse.
    ///   - centrals: The centrals to send to, or nil for all subscribers. Centrals that are not subscribed are skipped
    ///     (behaviour 7.42).
    /// - Returns: True if the value is queued. False if there was no room or no power: then nothing is sent, and
    ///   ``CBPeripheralManagerDelegate/peripheralManagerIsReady(toUpdateSubscribers:)`` is called once there is
    ///   (behaviour 7.43).
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

    /// Asks a central to use a shorter or longer connection interval. The central need not comply, and the outcome is
    /// not reported (behaviour 7.47).
    ///
    /// - Parameters:
    ///   - latency: The desired latency.
    ///   - central: The central.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        guard let link = linkForCommand() else { return }
        link.send(PeripheralRequest.setDesiredConnectionLatency(central: central.identifier, latency: latency.rawValue))
    }
}

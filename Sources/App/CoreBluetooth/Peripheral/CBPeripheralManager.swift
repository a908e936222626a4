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
    private let contents: Mutex<PeripheralManagerContents>

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
        contents = Mutex(PeripheralManagerContents(delegate: delegate))
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
        contents.withLock { $0.isAdvertising } && [.poweredOn, .unknown].contains(currentState)
    }

    override func value(named name: String) -> Any?? {
        name == "isAdvertising" ? isAdvertising : super.value(named: name)
    }

    /// Returns the app's permission to use Bluetooth: an old form of ``CBManager/authorization-type.property``. The
    /// call blocks until the service has answered.
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
        let refuse = refusing { $0.peripheralManager($1, didAdd: service, error: $2) }
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
            return link.report("\(service) is not published by \(self)")
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
        let refuse = refusing { $0.peripheralManagerDidStartAdvertising($1, error: $2) }
        guard let link = linkForCommand("startAdvertising", refuse) else { return }
        let data = OptionDictionary(advertisementData)
        let ignored = data.keys(except: CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey)
        if !ignored.isEmpty {
            let text = "only a local name and services can be advertised, not \(ignored.joined(separator: ", "))"
            guard !Misuse.isStrict else { return misused("\(self): \(text)", .invalidParameters, refuse) }
            link.warn("\(self): \(text)")
        }
        let request = AdvertisingRequest(
            localName: data.text(CBAdvertisementDataLocalNameKey),
            services: data.uuids(CBAdvertisementDataServiceUUIDsKey).values
        )
        contents.withLock { $0.wantAdvertising() }
        link.send(PeripheralRequest.startAdvertising(request))
    }

    /// Stops advertising. There is no callback (behaviour 7.27).
    open func stopAdvertising() {
        guard let link = linkForCommand() else { return }
        contents.withLock { $0.stopAdvertising() }
        keyValues.check()
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
        let refuse = refusing { $0.peripheralManager($1, didPublishL2CAPChannel: 0, error: $2) }
        guard let link = linkForCommand(#function, refuse) else { return }
        link.send(PeripheralRequest.publishChannel(needsEncryption: encryptionRequired))
    }

    /// Stops accepting L2CAP channels on a PSM, and closes those that are open on it (behaviour 8.9).
    ///
    /// The outcome is reported to ``CBPeripheralManagerDelegate/peripheralManager(_:didUnpublishL2CAPChannel:error:)``.
    ///
    /// - Parameter PSM: A PSM that this manager has published.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        let refuse = refusing { $0.peripheralManager($1, didUnpublishL2CAPChannel: PSM, error: $2) }
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
        guard let link = linkForCommand() else { return }
        if !answer(request, result, value: request.value) { link.report("\(request) has already been answered") }
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
            contents.withLock { $0.updates.refuse() }
            return false
        }
        let isAwaited = CallSites.isRecording && contents.withLock { $0.updates.isRoomAwaited }
        switch send(value, characteristic, centrals, over: link, isRemembered: true) {
        case .unknown:
            link.report("\(characteristic) is not published by \(self); its value cannot be updated")
            return false
        case .sent: return true
        case .full:
            if isAwaited { link.note(.updateWithoutRoom) }
            return false
        case .withdrawn, .off: return false
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

extension CBPeripheralManager {
    /// Returns a function that reports to the delegate that a command was refused.
    private func refusing(
        _ report: @escaping @Sendable (any CBPeripheralManagerDelegate, CBPeripheralManager, any Error) -> Void
    ) -> @Sendable (any Error) -> Void {
        { [weak self] error in if let self, let delegate { report(delegate, self, error) } }
    }
}

/// Handling of the service's events: each updates the objects first and then calls the delegate.
extension CBPeripheralManager {
    /// Handles an event of the service. Called on the manager's queue. Events for the other role are ignored.
    private func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .peripheral(let event): handle(event)
        case .central, .channel, .setup, .activity: break
        }
    }

    private func handle(_ event: PeripheralEvent) {
        switch event {
        case .serviceAdded(let id, let error): receiveAdded(id, error)
        case .advertisingStarted(let error, let number):
            if error == nil { contents.withLock { $0.advertisingStarted() } }
            keyValues.check()
            delegate?.peripheralManagerDidStartAdvertising(self, error: error?.apiError)
            notifyObserver(.advertisingStarted(number: number, error?.apiError))
        case .subscribed(let info, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(info)
            characteristic.setSubscribed(central, true)
            delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
            notifyObserver(.subscriptionChanged(central, characteristic, isSubscribed: true))
        case .unsubscribed(let info, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(info)
            characteristic.setSubscribed(central, false)
            delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
            notifyObserver(.subscriptionChanged(central, characteristic, isSubscribed: false))
        case .readRequested(let transaction, let info, let id, let offset):
            receiveRead(transaction, info, id, offset)
        case .writeRequested(let transaction, let info, let writes, let needsResponse):
            receiveWrites(
                Transaction(id: transaction, isRead: false, needsResponse: needsResponse, of: link?.connection),
                info,
                writes
            )
        case .updateCreditsReturned(let count): returnCredits(count)
        case .centralChanged(let info): _ = central(info)
        case .channelPublished, .channelUnpublished, .channelOpened: receiveChannelEvent(event)
        case .centralConnected(let info): notifyObserver(.centralConnected(central(info)))
        case .centralDisconnected(let identifier, let error):
            notifyObserver(.centralDisconnected(identifier, error?.apiError))
        case .centralReleased(let identifier, let error): notifyObserver(.centralReleased(identifier, error?.apiError))
        case .willRestore(let state): restore(state)
        }
    }

    private func receiveChannelEvent(_ event: PeripheralEvent) {
        switch event {
        case .channelPublished(let psm, let error, let number):
            delegate?.peripheralManager(self, didPublishL2CAPChannel: psm, error: error?.apiError)
            notifyObserver(.channelPublished(number: number, psm, error?.apiError))
        case .channelUnpublished(let psm, let error):
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: error?.apiError)
        case .channelOpened(let psm, let info, let id):
            guard let link else { return }
            let channel = CBL2CAPChannel(id, psm: psm, peer: central(info), link: link)
            delegate?.peripheralManager(self, didOpen: channel, error: nil)
            notifyObserver(.channelOpened(channel))
        // Handled by `handle(_:)`.
        default: break
        }
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        let left = contents.withLock {
            let left = state.rawValue < CBManagerState.poweredOn.rawValue ? $0.removeSubscribers() : []
            if state.rawValue < CBManagerState.poweredOff.rawValue { $0.removeAll() }
            return left
        }
        delegate?.peripheralManagerDidUpdateState(self)
        for (central, characteristic) in left {
            notifyObserver(.subscriptionChanged(central, characteristic, isSubscribed: false))
        }
        notifyObserver(.stateChanged(state))
        // Updates that were refused for lack of room or power can be sent now (behaviour 7.43).
        if state == .poweredOn { returnCredits(0) }
    }

    private func receiveAdded(_ id: LocalAttributeID, _ error: ServiceError?) {
        let service = contents.withLock {
            let service = $0.published.takeAwaited(id)
            if error != nil { $0.published.remove(id) }
            return service
        }
        if let service { delegate?.peripheralManager(self, didAdd: service, error: error?.apiError) }
        notifyObserver(.serviceAdded(id, error?.apiError))
    }

    private func receiveRead(_ id: UInt64, _ info: CentralInfo, _ attribute: LocalAttributeID, _ offset: Int) {
        let transaction = Transaction(id: id, isRead: true, needsResponse: true, of: link?.connection)
        guard let characteristic = characteristic(attribute) else { return refuse(transaction) }
        let request = CBATTRequest(
            transaction,
            central: central(info),
            characteristic: characteristic,
            offset: offset,
            value: nil
        )
        if let observer, observer.accept([request], isRead: true, of: self) { return }
        guard let delegate else { return refuse(transaction) }
        delegate.peripheralManager(self, didReceiveRead: request)
    }

    private func receiveWrites(_ transaction: Transaction, _ info: CentralInfo, _ writes: [WriteRequest]) {
        let central = central(info)
        let requests = writes.compactMap { write in
            characteristic(write.characteristic).map {
                CBATTRequest(
                    transaction,
                    central: central,
                    characteristic: $0,
                    offset: write.offset,
                    value: Data(write.value)
                )
            }
        }
        // All or nothing: a request that cannot be delivered fails the whole batch (behaviour 7.35).
        guard !requests.isEmpty, requests.count == writes.count else { return refuse(transaction) }
        if let observer, observer.accept(requests, isRead: false, of: self) { return }
        guard let delegate else { return refuse(transaction) }
        delegate.peripheralManager(self, didReceiveWrite: requests)
    }

    /// Refuses a request that cannot be delivered: there is no delegate, or the characteristic was just removed.
    private func refuse(_ transaction: Transaction) {
        guard transaction.answer(), transaction.needsResponse else { return }
        let status = ATTStatus(rawValue: UInt8(CBATTErrorCode.unlikelyError.rawValue))
        link?.send(PeripheralRequest.respond(transaction: transaction.id, status, value: nil))
    }

    private func returnCredits(_ count: Int) {
        let (observer, isDelegatesTurn) = contents.withLock { ($0.observer, $0.updates.returnCredits(count)) }
        if isDelegatesTurn { reportReadiness() }
        observer?.hasUpdateRoom(self)
        if !isDelegatesTurn { reportReadiness() }
    }

    private func reportReadiness() {
        let isAwaited = contents.withLock { $0.updates.takeAwaitedRoom() }
        // Once after each refusal (behaviour 7.43).
        if isAwaited { delegate?.peripheralManagerIsReady(toUpdateSubscribers: self) }
    }

    private func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? {
        contents.withLock { $0.published.characteristic(id) }
    }

    /// Returns the object for a central, up to date. It is the same object as long as there is a reference to it.
    private func central(_ info: CentralInfo) -> CBCentral {
        let central = contents.withLock { $0.central(info) }
        central.setMaximumUpdateValueLength(info.maximumUpdateLength)
        return central
    }

    /// Restores the published services and their subscribers of a manager whose app has ended, and calls the delegate
    /// (behaviour 10.12).
    private func restore(_ state: RestoredPeripheral) {
        let services = contents.withLock { contents in state.services.map { contents.published.adopt($0) } }
        for subscription in state.subscriptions {
            let characteristic = contents.withLock { $0.published.characteristic(subscription.characteristic) }
            characteristic?.setSubscribed(central(subscription.central), true)
        }
        var restored: [String: Any] = [:]
        if !services.isEmpty { restored[CBPeripheralManagerRestoredStateServicesKey] = services }
        if let advertising = state.advertising {
            contents.withLock { $0.restoreAdvertising() }
            keyValues.check()
            restored[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertising.data
        }
        let isIgnored = OmittedMethod.noted { delegate?.peripheralManager(self, willRestoreState: restored) }
        if isIgnored || delegate == nil { link?.note(.restorationIgnored) }
    }
}

/// Entry points for other modules of this package.
extension CBPeripheralManager {
    /// The observer, if there is one.
    package var observer: (any PeripheralManagerObserver)? { contents.withLock { $0.observer } }

    /// Returns the observer, after creating it if there is none.
    package func observer(
        orElse make: () -> any PeripheralManagerObserver
    ) -> any PeripheralManagerObserver {
        contents.withLock { $0.observer(orElse: make) }
    }

    private func notifyObserver(_ news: PeripheralManagerReport) { observer?.receive(news, of: self) }

    /// Sends a request to the service. Returns false if the manager is not powered on, which is not reported as misuse.
    package func ask(_ request: PeripheralRequest) -> Bool {
        guard currentState == .poweredOn, let link else { return false }
        if case .startAdvertising = request { contents.withLock { $0.wantAdvertising() } }
        link.send(request)
        return true
    }

    /// Publishes a service. `register` is called with its number before the service can report anything about it.
    /// Returns false if the manager is not powered on.
    package func publish(_ service: CBMutableService, register: (LocalAttributeID) -> Void) -> Bool {
        guard currentState == .poweredOn, let link else { return false }
        let published = contents.withLock { $0.published.add(service) }
        register(published.id)
        // If the power went before the registration, the caller learns it here; if after, from the event.
        guard currentState == .poweredOn else {
            contents.withLock {
                _ = $0.published.takeAwaited(published.id)
                $0.published.remove(published.id)
            }
            return false
        }
        link.send(PeripheralRequest.addService(published))
        return true
    }

    /// Whether the service is published, or about to be.
    package func publishes(_ service: CBService) -> Bool { contents.withLock { $0.published.id(of: service) != nil } }

    /// Sends an update if there is room. `claim` is called once that is certain, and confirms that the update is still
    /// wanted.
    package func send(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        to centrals: [CBCentral]?,
        claim: () -> Bool
    ) -> UpdateOutcome {
        guard currentState == .poweredOn, let link else { return .off }
        return send(value, characteristic, centrals, over: link, isRemembered: false, claim: claim)
    }

    /// Sends an update if there is room, and `claim` confirms that it is still wanted.
    ///
    /// - Parameter isRemembered: Whether to tell the delegate when there is room, if there is none now.
    private func send(
        _ value: Data,
        _ characteristic: CBMutableCharacteristic,
        _ centrals: [CBCentral]?,
        over link: ManagerLink,
        isRemembered: Bool,
        claim: () -> Bool = { true }
    ) -> UpdateOutcome {
        let identifiers = centrals?.map(\.identifier)
        let (outcome, id): (UpdateOutcome, LocalAttributeID) = contents.withLock {
            guard let id = $0.published.id(of: characteristic) else { return (.unknown, LocalAttributeID(0)) }
            return ($0.updates.add(id, to: identifiers, isRemembered: isRemembered, claim: claim), id)
        }
        if outcome == .sent {
            link.send(PeripheralRequest.updateValue(id, value: PacketBuffer(copying: value), centrals: identifiers))
        }
        return outcome
    }

    /// Returns the number of updates that the service has accepted and not passed on: all of them, or those for one
    /// central.
    package func updatesUnderWay(for central: CBCentral?) -> Int {
        contents.withLock { contents in
            guard let central else { return contents.updates.count }
            return contents.updates.count(for: central.identifier) { characteristic in
                let subscribers = contents.published.characteristic(characteristic)?.subscribedCentrals ?? []
                return subscribers.contains { $0.identifier == central.identifier }
            }
        }
    }

    /// Answers the requests of one callback, of which `request` is the first. Without power the answer is dropped.
    ///
    /// - Returns: False if the requests were answered already.
    package func answer(_ request: CBATTRequest, _ code: CBATTError.Code, value: Data?) -> Bool {
        guard request.transaction.answer() else { return false }
        guard request.transaction.needsResponse, currentState == .poweredOn else { return true }
        let status = ATTStatus(clamping: code)
        let sent = request.transaction.isRead && status == .success ? PacketBuffer(copying: value ?? Data()) : nil
        link?.send(PeripheralRequest.respond(transaction: request.transaction.id, status, value: sent))
        return true
    }
}

extension AdvertisingRequest {
    fileprivate var data: [String: Any] {
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = localName
        if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
        return data
    }
}

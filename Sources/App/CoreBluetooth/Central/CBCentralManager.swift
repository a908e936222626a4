import Foundation
import ServiceMessages
import Synchronization

/// Scans for peripherals, connects to them, and retrieves those that are known.
///
/// Wait for the state `poweredOn` before you use a manager; in other states commands have no effect but a line in the
/// log (behaviour 1.6). Each manager has a scan and peripheral objects of its own (behaviour 1.24). Its scan and its
/// connections end when it is released (behaviour 13.6).
///
/// Methods may be called from any thread. The delegate is called on the queue given at creation (behaviour 13.1).
open class CBCentralManager: CBManager, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct Contents: @unchecked Sendable {
        // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
        weak var delegate: (any CBCentralManagerDelegate)?
        var isScanning = false
        /// The number of the current scan, or of the last one.
        var scanNumber: UInt64 = 0
    }

    /// Features of the controller that not every system has.
    public struct Feature: OptionSet, Sendable {
        /// The bits of the option set.
        public let rawValue: UInt

        /// Creates a set from its bits.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Extended advertisements are reported, and connected to (behaviours 1.25, 2.26).
        public static let extendedScanAndConnect = Feature(rawValue: 0x1)
        /// Distances can be measured by Channel Sounding (behaviour 17.1).
        public static let channelSounding = Feature(rawValue: 0x400)
    }

    private let contents: Mutex<Contents>
    private let registry = PeripheralRegistry()
    /// The events of this manager, for other modules of this package.
    package let updates = Listeners<CentralUpdate>()
    private let attachment = Annex()

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
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    ///
    /// The state is `unknown` until the first call of ``CBCentralManagerDelegate/centralManagerDidUpdateState(_:)``,
    /// which comes after the initializer has returned (behaviour 1.1). The first manager of an app makes the system ask
    /// the user for permission if that is not determined (behaviour 1.18).
    ///
    /// - Parameters:
    ///   - delegate: The delegate, held weakly (behaviour 13.5).
    ///   - queue: The queue on which the delegate is called; nil means the main queue, which `dispatchMain()` or a run
    ///     loop has to run.
    ///   - options: The options, by the `CBCentralManagerOption` keys.
    public init(
        delegate: (any CBCentralManagerDelegate)?,
        queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        contents = Mutex(Contents(delegate: delegate))
        let given = OptionDictionary(options)
        let asked = ManagerOptions(
            showsPowerAlert: given.flag(CBCentralManagerOptionShowPowerAlertKey) ?? true,
            restoreIdentifier: given.text(CBCentralManagerOptionRestoreIdentifierKey)
        )
        super.init(role: .central, options: asked, queue: queue)
    }

    deinit {
        // The connections end with the manager (behaviour 13.6).
        scanEnded(.managerGone)
        for peripheral in registry.all where peripheral.reset() {
            peripheral.lost(ServiceError(.notConnected, reason: "the manager was released").apiError, with: nil)
        }
    }

    override func receive(_ event: Event) { handle(event) }

    /// The delegate, held weakly (behaviour 13.5). It is called on the manager's queue.
    open var delegate: (any CBCentralManagerDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// Whether this manager has a scan (behaviour 2.7). A scan that is paused in the background counts (behaviours 2.1,
    /// 9.3).
    open var isScanning: Bool { contents.withLock { $0.isScanning } }

    override func value(named name: String) -> Any?? {
        name == "isScanning" ? isScanning : super.value(named: name)
    }

    /// Returns whether the controller has all of the given features.
    ///
    /// The answer is certain once a manager is `poweredOn` (behaviours 1.25, 17.1). The call blocks until the service has answered.
    ///
    /// - Parameter features: The features; for an empty set the result is true.
    /// - Returns: Whether all of them are supported.
    @discardableResult
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        guard !features.isEmpty else { return true }
        let info = SystemInfo.current
        var there: Feature = info?.hasExtendedScanAndConnect == true ? .extendedScanAndConnect : []
        if info?.hasChannelSounding == true { there.insert(.channelSounding) }
        return features.isSubset(of: there)
    }

    // MARK: Scanning

    /// Starts a scan, which lasts until ``stopScan()`` or until the state changes (behaviour 2.1). During a scan,
    /// replaces its parameters (behaviour 2.6).
    ///
    /// Each discovery is reported to
    /// ``CBCentralManagerDelegate/centralManager(_:didDiscover:advertisementData:rssi:)``. In the background a scan has
    /// to name services, and gets no duplicates (behaviour 2.27).
    ///
    /// - Parameters:
    ///   - serviceUUIDs: Report peripherals that advertise at least one of these services. Nil or an empty list reports
    ///     all (behaviour 2.4).
    ///   - options: The options, by the `CBCentralManagerScanOption` keys.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard linkForCommand() != nil else { return }
        let options = OptionDictionary(options)
        let request = ScanRequest(
            services: serviceUUIDs?.values,
            allowsDuplicates: options.flag(CBCentralManagerScanOptionAllowDuplicatesKey) ?? false,
            solicitedServices: options.uuids(CBCentralManagerScanOptionSolicitedServiceUUIDsKey).values
        )
        _ = beginScan(request)
    }

    /// Stops the scan. There is no callback.
    ///
    /// Without power the scan has ended already and the call is misuse (behaviour 1.15).
    open func stopScan() {
        guard let link = linkForCommand() else { return }
        scanEnded(.stopped)
        link.send(CentralRequest.stopScan)
    }

    // MARK: Connecting

    /// Connects to a peripheral, without a time limit (behaviour 3.1).
    ///
    /// The outcome is reported to ``CBCentralManagerDelegate/centralManager(_:didConnect:)`` or, rarely, to
    /// ``CBCentralManagerDelegate/centralManager(_:didFailToConnect:error:)`` (behaviour 3.2). Keep the peripheral
    /// meanwhile: when it is released, the attempt is cancelled (behaviour 3.5). Repeated calls have no effect
    /// (behaviour 3.3). With CoreBluetoothExtras, `connect(_:options:deadline:)` has a time limit (behaviour 15.2).
    ///
    /// - Parameters:
    ///   - peripheral: A peripheral of this manager. For one of another manager the call is misuse (behaviour 3.8).
    ///   - options: The options, by the `CBConnectPeripheralOption` keys.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
        }
        guard let link = linkForCommand("connect", refuse), isOwn(peripheral, "connect", refuse) else { return }
        guard peripheral.change({ $0.connect() }) else { return }
        let given = OptionDictionary(options)
        var options = ConnectOptions()
        options.notifiesOnConnection = given.flag(CBConnectPeripheralOptionNotifyOnConnectionKey) ?? false
        options.notifiesOnDisconnection = given.flag(CBConnectPeripheralOptionNotifyOnDisconnectionKey) ?? false
        options.notifiesOnNotification = given.flag(CBConnectPeripheralOptionNotifyOnNotificationKey) ?? false
        options.startDelay = given.wholeNumber(CBConnectPeripheralOptionStartDelayKey) ?? 0
        options.reconnectsAutomatically = given.flag(CBConnectPeripheralOptionEnableAutoReconnect) ?? false
        options.requiresNotifications = given.flag(CBConnectPeripheralOptionRequiresANCS) ?? false
        if given.flag(CBConnectPeripheralOptionEnableTransportBridgingKey) ?? false {
            // Behaviour 3.20.
            link.warn("Connecting to \(peripheral) over LE only: transport bridging is not supported")
        }
        link.send(.connect(options), of: peripheral.identifier)
    }

    /// Cancels a connection or a pending attempt.
    ///
    /// The method returns at once; ``CBCentralManagerDelegate/centralManager(_:didDisconnectPeripheral:error:)``
    /// follows without an error (behaviours 3.6, 3.7). The link itself stays up as long as other apps use it
    /// (behaviour 3.10).
    ///
    /// - Parameter peripheral: A peripheral of this manager. For one of another manager the call is misuse
    ///   (behaviour 3.8).
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            reportDisconnection(of: peripheral, at: CFAbsoluteTimeGetCurrent(), isReconnecting: false, error)
        }
        guard let link = linkForCommand(#function, refuse), isOwn(peripheral, #function, refuse) else { return }
        if peripheral.change({ $0.cancel() }) { link.send(.cancelConnection, of: peripheral.identifier) }
    }

    // MARK: Connection events

    /// Registers for the connections and disconnections of devices by any app or by the system, in place of an earlier
    /// registration (behaviour 3.22).
    ///
    /// Events are reported to ``CBCentralManagerDelegate/centralManager(_:connectionEventDidOccur:for:)``, beginning
    /// with those after the call. The app still has to connect to a device before it uses it.
    ///
    /// - Parameter options: The devices, by ``CBConnectionEventMatchingOption``; of more than four services the first
    ///   four count. Nil ends the registration.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard let link = linkForCommand() else { return }
        guard let options else { return link.send(CentralRequest.watchConnections(nil)) }
        let services = (options[.serviceUUIDs] as? [CBUUID])?.values ?? []
        if services.count > ConnectionWatch.maximumServices {
            link.report(
                "\(self) can register for connections of at most \(ConnectionWatch.maximumServices) services; those "
                    + "after them are ignored, and \(services.count) were given"
            )
        }
        let watch = ConnectionWatch(
            services: Array(services.prefix(ConnectionWatch.maximumServices)),
            peers: options[.peripheralUUIDs] as? [UUID] ?? []
        )
        link.send(CentralRequest.watchConnections(watch))
    }

    // MARK: Retrieving

    /// Returns the peripherals with the given identifiers that this host has seen in a scan or connected to
    /// (behaviours 11.2, 11.3).
    ///
    /// The call needs no radio and blocks only until the service has answered.
    ///
    /// - Parameter identifiers: The identifiers.
    /// - Returns: The known peripherals, in the order of the identifiers. Empty unless the state is `poweredOn`
    ///   (behaviour 1.8).
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard !identifiers.isEmpty else { return [] }
        return stride(from: 0, to: identifiers.count, by: ServiceLimits.identifiers).flatMap { start in
            peripherals(.peripherals(identifiers: Array(identifiers[start...].prefix(ServiceLimits.identifiers))))
        }
    }

    /// Returns the peripherals that are connected to this system, by any app, and have one of the given services
    /// (behaviour 11.7).
    ///
    /// This app has to connect to a peripheral before it uses it. The call blocks until the service has answered.
    ///
    /// - Parameter serviceUUIDs: The services; for an empty list the result is empty.
    /// - Returns: The connected peripherals. Empty unless the state is `poweredOn` (behaviour 1.8).
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard !serviceUUIDs.isEmpty else { return [] }
        return peripherals(.connectedPeripherals(services: serviceUUIDs.values))
    }

    private func peripherals(_ query: Query, _ command: String = #function) -> [CBPeripheral] {
        guard let link = linkForCommand(command) else { return [] }
        switch link.ask(query) {
        case .success(.peripherals(let found)), .success(.connectedPeripherals(let found)):
            return found.map { registry.peripheral(for: $0, link: link) }
        case .success: return []
        case .failure(let error):
            link.report("\(command) failed: \(error.reason ?? "\(error.code)")")
            return []
        }
    }

    /// Whether the peripheral is one of this manager's and still valid (behaviours 1.10, 3.8). If it is not, logs
    /// misuse.
    private func isOwn(
        _ peripheral: CBPeripheral,
        _ command: String = #function,
        _ report: (@Sendable (any Error) -> Void)? = nil
    ) -> Bool {
        if registry.contains(peripheral) { return true }
        let text = "\(peripheral) is not a peripheral of \(self) or is no longer valid; retrieve it again: \(command)"
        misused(text, .unknownDevice, report)
        return false
    }
}

/// Handling of the service's events: each updates the objects first and then calls the delegate.
extension CBCentralManager {
    /// Handles an event of the service. Called on the manager's queue. Events for the other role are ignored.
    private func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .central(.discovered(let info, let advertisement, let rssi)): discovered(info, advertisement, rssi)
        case .central(.peer(let identifier, let event)):
            guard let peripheral = registry.peripheral(identifier) else { return release(event) }
            peripheral.noteLoss(of: event)
            handle(event, of: peripheral)
        case .central(.answered(let identifier, let number, let event)): answered(identifier, number, event)
        case .central(.connectionChanged(let info, let isConnected)):
            guard let link else { return }
            let peripheral = registry.peripheral(for: info, link: link)
            let event: CBConnectionEvent = isConnected ? .peerConnected : .peerDisconnected
            delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral)
            updates.notify(.connectionChanged(peripheral, isConnected: isConnected))
        case .central(.lost(let info)):
            guard isScanning, let link else { return }
            updates.notify(.lost(registry.peripheral(for: info, link: link)))
        case .central(.willRestore(let state)): restore(state)
        case .peripheral, .channel, .setup, .activity: break
        }
    }

    private func discovered(_ info: PeerInfo, _ advertisement: Advertisement, _ rssi: Int) {
        guard isScanning, let link else { return }
        let peripheral = registry.peripheral(for: info, link: link)
        delegate?.centralManager(
            self,
            didDiscover: peripheral,
            advertisementData: advertisement.dictionary,
            rssi: NSNumber(value: rssi)
        )
        updates.notify(.discovered(peripheral, advertisement, rssi: rssi))
    }

    /// Handles the response to a numbered request: calls the delegate as for any other event, then the request's
    /// completion. An opened channel goes to the completion alone.
    private func answered(_ identifier: UUID, _ number: UInt32, _ event: PeerEvent) {
        guard let peripheral = registry.peripheral(identifier) else { return release(event) }
        guard case .channelOpened = event else {
            handle(event, of: peripheral)
            return _ = peripheral.settle(number, event)
        }
        if !peripheral.settle(number, event) { release(event) }
    }

    /// Closes a channel that was opened to a peripheral that the app no longer holds.
    private func release(_ event: PeerEvent) {
        if case .channelOpened(_, .success(let channel)) = event { link?.send(.close, on: channel) }
    }

    private func handle(_ event: PeerEvent, of peripheral: CBPeripheral) {
        switch event {
        case .connected(let name, let maximumWriteLength):
            if let name { peripheral.setName(name) }
            guard peripheral.change({ $0.didConnect(maximumWriteLength: maximumWriteLength) }) else { return }
            delegate?.centralManager(self, didConnect: peripheral)
            peripheral.updates.notify(.connected)
        case .connectionFailed(let error):
            guard peripheral.didDisconnect() else { return }
            let error = error.apiError
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
            peripheral.settleAll(error)
            peripheral.updates.notify(.connectionFailed(error))
        case .disconnected(let error, let isReconnecting, let timestamp):
            guard peripheral.didDisconnect(isReconnecting: isReconnecting) else { return }
            peripheral.failOpenings(error)
            let time = timestamp ?? CFAbsoluteTimeGetCurrent()
            reportDisconnection(of: peripheral, at: time, isReconnecting: isReconnecting, error?.apiError)
            let ended = ServiceError(.notConnected, reason: "the connection has ended")
            peripheral.settleAll((error ?? ended).apiError)
            let end = ConnectionEnd(error: error?.apiError, isReconnecting: isReconnecting, time: time)
            peripheral.updates.notify(.disconnected(end))
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged,
            .rssiRead,
            .nameChanged, .servicesModified, .maximumWriteLengthChanged, .writeCreditsReturned,
            .channelSoundingMeasured, .channelSoundingEnded,
            .channelOpened:
            peripheral.receive(event)
            peripheral.updates.notify(.event(event))
        // No delegate method reports this.
        case .linkInformation: peripheral.updates.notify(.event(event))
        case .notificationsAuthorized(let isAuthorized):
            guard peripheral.state == .connected else { return }
            peripheral.change { $0.setAuthorizedForNotifications(isAuthorized) }
            delegate?.centralManager(self, didUpdateANCSAuthorizationFor: peripheral)
            peripheral.updates.notify(.event(event))
        }
    }

    /// Calls one of the two delegate methods for a disconnection: the one without a time or, if the delegate leaves
    /// that out, the one with it (behaviour 3.18).
    private func reportDisconnection(
        of peripheral: CBPeripheral,
        at time: CFAbsoluteTime,
        isReconnecting: Bool,
        _ error: (any Error)?
    ) {
        guard let delegate else { return }
        let isLeftOut = OmittedMethod.noted {
            delegate.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        }
        guard isLeftOut else { return }
        delegate.centralManager(
            self,
            didDisconnectPeripheral: peripheral,
            timestamp: time,
            isReconnecting: isReconnecting,
            error: error
        )
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        registry.isRestoring.store(false, ordering: .releasing)
        var lost: [CBPeripheral] = []
        if state.rawValue < CBManagerState.poweredOn.rawValue {
            for peripheral in registry.all {
                if peripheral.reset() { lost.append(peripheral) }
                peripheral.failOpenings(nil)
            }
            scanEnded(.lostPower(state))
        }
        if state.rawValue < CBManagerState.poweredOff.rawValue { registry.removeAll() }
        delegate?.centralManagerDidUpdateState(self)
        updates.notify(.state(state))
        let error = ServiceError(.notConnected, reason: "the manager is no longer powered on").apiError
        for peripheral in lost { peripheral.lost(error, with: state) }
    }

    /// Restores the peripherals and the scan of a manager whose app has ended, and calls the delegate (behaviours 10.8
    /// to 10.10).
    private func restore(_ state: RestoredCentral) {
        guard let link else { return }
        registry.isRestoring.store(true, ordering: .releasing)
        let peripherals = state.peers.map { peer in
            let peripheral = registry.peripheral(for: peer.info, link: link)
            peripheral.restore(peer)
            return peripheral
        }
        var restored: [String: Any] = [:]
        if !peripherals.isEmpty { restored[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        if let scan = state.scan {
            contents.withLock {
                $0.isScanning = true
                $0.scanNumber += 1
            }
            keyValues.check()
            restored[CBCentralManagerRestoredStateScanServicesKey] = scan.services?.map { CBUUID($0) }
            restored[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
        }
        let isIgnored = OmittedMethod.noted { delegate?.centralManager(self, willRestoreState: restored) }
        if isIgnored || delegate == nil { link.note(.restorationIgnored) }
    }
}

/// Entry points for other modules of this package.
extension CBCentralManager {
    /// Starts a scan in place of the current one, if any.
    ///
    /// - Returns: The number of the scan, or nil if the manager is not powered on.
    package func beginScan(_ request: ScanRequest) -> UInt64? {
        guard currentState == .poweredOn, let link else { return nil }
        let (old, number): (UInt64?, UInt64) = contents.withLock { contents in
            defer { contents.isScanning = true }
            contents.scanNumber += 1
            return (contents.isScanning ? contents.scanNumber - 1 : nil, contents.scanNumber)
        }
        keyValues.check()
        if let old { updates.notify(.scanEnded(old, .replaced)) }
        link.send(CentralRequest.startScan(request))
        return number
    }

    /// The number of the current scan, or nil if there is none.
    package var presentScan: UInt64? { contents.withLock { $0.isScanning ? $0.scanNumber : nil } }

    /// Stops the scan with this number, if it is still the current one.
    package func endScan(_ number: UInt64) {
        let isGoingOn = contents.withLock { contents in
            guard contents.isScanning, contents.scanNumber == number else { return false }
            contents.isScanning = false
            return true
        }
        keyValues.check()
        if isGoingOn { link?.send(CentralRequest.stopScan) }
    }

    /// Marks the current scan as ended and reports why to the listeners.
    private func scanEnded(_ end: ScanEnd) {
        let number: UInt64? = contents.withLock { contents in
            defer { contents.isScanning = false }
            return contents.isScanning ? contents.scanNumber : nil
        }
        keyValues.check()
        if let number { updates.notify(.scanEnded(number, end)) }
    }

    /// Returns the object that another module of this package attaches to this manager, after creating it on first use.
    package func annex<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content { attachment.content(make) }

    /// Whether the peripheral is one of this manager's and still valid (behaviours 1.10, 3.8).
    package func knows(_ peripheral: CBPeripheral) -> Bool { registry.contains(peripheral) }

    /// Returns the service's reply to a query, or nil if there is none.
    package func reply(to query: Query) -> Reply? { try? link?.ask(query).get() }

    /// Makes the scan forget which devices it has reported, so that it reports them again.
    package func resetScanFilter() {
        if currentState == .poweredOn { link?.send(CentralRequest.resetScanFilter) }
    }

    /// Calls `body` on the manager's queue after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let link else { return {} }
        return link.callBack(after: delay, body)
    }
}

import BluetoothService
import Foundation
import Synchronization

/// Finds peripherals and connects to them. Its delegate is called on the queue given at creation.
open class CBCentralManager: CBManager, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: @unchecked Sendable {
        // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
        weak var delegate: (any CBCentralManagerDelegate)?
        var isScanning = false
        /// The number of the present scan, or the last one.
        var scanNumber: UInt64 = 0
    }

    /// What a controller may be able to do.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Any bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Extended advertisements are found, and connected to.
        public static let extendedScanAndConnect = Feature(rawValue: 0x1)
        /// Distances are measured by Channel Sounding.
        public static let channelSounding = Feature(rawValue: 0x400)
    }

    let contents: Mutex<Contents>
    let registry = PeripheralRegistry()
    /// For other modules of this package.
    package let happenings = Listeners<CentralHappening>()
    /// For other modules of this package.
    package let annex = Annex()

    /// A manager without a delegate, on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager without options; without a queue it is the main queue.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager.
    ///
    /// - Parameters:
    ///   - queue: Where the delegate is called; nil means the main queue, which has to run: `dispatchMain()` or a run loop.
    ///   - options: By the `CBCentralManagerOption` keys.
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
            peripheral.lost(ServiceError(.notConnected, reason: "the manager is gone").apiError, with: nil)
        }
    }

    override func receive(_ event: Event) { handle(event) }

    /// Hears what becomes of the requests.
    open var delegate: (any CBCentralManagerDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// Whether a scan is going on (behaviour 2.7).
    open var isScanning: Bool { contents.withLock { $0.isScanning } }

    /// Whether the controller has all of these features; it is known once a manager is powered on. No controller measures
    /// distances yet.
    @discardableResult
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        guard !features.isEmpty else { return true }
        let there: Feature = SystemInfo.current?.hasExtendedScanAndConnect == true ? .extendedScanAndConnect : []
        return features.isSubset(of: there)
    }

    // MARK: Scanning

    /// Scans until ``stopScan()``, or replaces the parameters of the running scan.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: Report peripherals that advertise one of these; nil or none means all.
    ///   - options: By the `CBCentralManagerScanOption` keys.
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

    /// Ends the scan.
    open func stopScan() {
        guard let link = linkForCommand() else { return }
        scanEnded(.stopped)
        link.send(CentralRequest.stopScan)
    }

    // MARK: Connecting

    /// Connects, however long that takes.
    ///
    /// - Parameter options: By the `CBConnectPeripheralOption` keys.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        let refuse: @Sendable (any Error) -> Void = { [weak self] error in
            guard let self else { return }
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
        }
        guard let link = linkForCommand("connect", refuse), isOwn(peripheral, "connect", refuse) else { return }
        guard peripheral.beginConnecting() else { return }
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
            Misuse.warn("Connecting to \(peripheral) over LE alone: transport bridging is not supported")
        }
        link.send(.connect(options), of: peripheral.identifier)
    }

    /// Gives up a pending or live connection. The device stays connected to the system as long as others use it.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard let link = linkForCommand(), isOwn(peripheral), peripheral.beginCancelling() else { return }
        link.send(.cancelConnection, of: peripheral.identifier)
    }

    // MARK: Connections of others

    /// Hears of connections and disconnections of devices by anyone on this system, in place of those asked for before. Each still
    /// has to be connected before use (behaviour 3.22).
    ///
    /// - Parameter options: Which devices; nil ends it.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard let link = linkForCommand() else { return }
        guard let options else { return link.send(CentralRequest.watchConnections(nil)) }
        let services = (options[.serviceUUIDs] as? [CBUUID])?.values ?? []
        if services.count > ConnectionWatch.maximumServices {
            Misuse.report(
                "\(self) can register for connections by up to \(ConnectionWatch.maximumServices) services; the first of "
                    + "\(services.count) count"
            )
        }
        let watch = ConnectionWatch(
            services: Array(services.prefix(ConnectionWatch.maximumServices)),
            peers: options[.peripheralUUIDs] as? [UUID] ?? []
        )
        link.send(CentralRequest.watchConnections(watch))
    }

    // MARK: Retrieving

    /// The peripherals with these identifiers that this host has seen, in the order asked.
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard !identifiers.isEmpty else { return [] }
        return stride(from: 0, to: identifiers.count, by: ServiceLimits.identifiers).flatMap { start in
            peripherals(.peripherals(identifiers: Array(identifiers[start...].prefix(ServiceLimits.identifiers))))
        }
    }

    /// The peripherals that are connected to this system, by whatever app, and have one of these services. Each still has to
    /// be connected before use.
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
            Misuse.report("\(command) cannot be answered: \(error.reason ?? "\(error.code)")")
            return []
        }
    }

    /// Whether a peripheral came from this manager and still stands for a device (behaviours 1.10, 3.8).
    private func isOwn(
        _ peripheral: CBPeripheral,
        _ command: String = #function,
        _ tell: (@Sendable (any Error) -> Void)? = nil
    ) -> Bool {
        if registry.contains(peripheral) { return true }
        let text = "\(peripheral) is not a peripheral of \(self), or no longer; retrieve it again: \(command)"
        misused(text, .unknownDevice, tell)
        return false
    }
}

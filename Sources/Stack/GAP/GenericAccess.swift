import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import L2CAP
import SMP
import Security

/// The Generic Access Profile of one device: a controller with its advertiser, scanner and connector, and the resulting
/// links (Core Vol 3 Part C).
///
/// All its roles can be active at once.
/// This layer follows the specification; deviations of Apple's systems belong to the layers above. Use it only on its
/// event loop.
package final class GenericAccess {
    /// The state of the device.
    package enum State: Hashable, Sendable {
        /// Not started, or stopped.
        case off
        case starting
        /// The device is ready, with this initial address. A private address changes later.
        case ready(OwnAddress)
        case failed(HCIHostError)
    }

    package private(set) var state = State.off
    /// Called after each change of ``state``. When the controller is lost, all links, modes and procedures end.
    package var onStateChange: ((State) -> Void)?
    /// Called with each new link in either role, before anything is received on it.
    package var onLink: ((AccessLink) -> Void)?
    /// The open links, oldest first.
    package private(set) var links: [AccessLink] = []
    private var onAllDisconnected: (() -> Void)?
    package let loop: any EventLoop
    package let advertiser: HostAdvertiser
    package let connector: Connector
    package let privacy: DevicePrivacy
    package let channels: ChannelServers
    package let deviceSecurity: DeviceSecurity
    /// Opens the bonds that belong to a controller, which is ready and has not used an address yet (AB-H08); returns
    /// nil if there are none. If not set, the bonds from the initializer remain.
    package var openBonds: ((ControllerInformation) -> BondStore?)?

    private(set) lazy var peerFeatures = PeerFeatures(host: host)

    private lazy var fallbacks = AccessFallbacks(self)

    let host: HCIHost
    let scanner: HostScanner
    let stackEvents: StackEventSink
    private let identity: DeviceIdentity
    private var currentScan: Scan?
    private var watchers: [(owner: ObjectIdentifier, report: ConnectionWatcher)] = []
    private var controller: ControllerInformation?
    private var ownAddress: OwnAddress?

    /// Called with each link made as central, or with the reason for a failure. The peer is nil if the failure concerns
    /// all of them.
    package typealias ConnectionWatcher = (Result<AccessLink, GAPError>, BluetoothAddress?) -> Void

    /// The current scan and its owner.
    private struct Scan {
        let owner: ObjectIdentifier
        let onSighting: (Sighting) -> Void
        let onEnd: (GAPError) -> Void
    }

    /// Creates a device on a controller. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - host: A host for exclusive use. Its callbacks are replaced.
    ///   - bonds: Stores bonds, and the identity of this device behind private addresses. Without it pairing makes no
    ///     bonds.
    package convenience init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        address policy: OwnAddressPolicy = .staticRandom,
        bonds: BondStore? = nil,
        pairing: PairingConfiguration = PairingConfiguration(),
        privateAddressInterval interval: Duration = GAPTimer.privateAddressInterval,
        stackEvents: StackEventSink
    ) {
        let deviceSecurity = DeviceSecurity(
            loop: loop,
            random: random,
            bonds: bonds,
            configuration: pairing,
            stackEvents: stackEvents
        )
        let identity = DeviceIdentity(policy, random: random)
        self.init(
            host: host,
            loop: loop,
            random: random,
            identity: identity,
            deviceSecurity: deviceSecurity,
            privateAddressInterval: interval,
            stackEvents: stackEvents
        )
    }

    /// Creates a device on a controller from objects that outlive the controller.
    ///
    /// - Parameters:
    ///   - host: A host for exclusive use. Its callbacks are replaced.
    ///   - deviceSecurity: The bonds and the pairing configuration. It belongs to this device until another one is
    ///     created with it.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        identity: DeviceIdentity,
        deviceSecurity: DeviceSecurity,
        channels: ChannelServers = ChannelServers(),
        privateAddressInterval interval: Duration = GAPTimer.privateAddressInterval,
        stackEvents: StackEventSink
    ) {
        self.host = host
        self.loop = loop
        self.identity = identity
        self.stackEvents = stackEvents
        self.deviceSecurity = deviceSecurity
        self.channels = channels
        privacy = DevicePrivacy(
            host: host,
            loop: loop,
            random: random,
            identity: nil,
            interval: interval,
            stackEvents: stackEvents
        )
        advertiser = HostAdvertiser(host: host, loop: loop, stackEvents: stackEvents, privacy: privacy)
        scanner = HostScanner(host: host, loop: loop, stackEvents: stackEvents, privacy: privacy)
        connector = Connector(host: host, loop: loop, stackEvents: stackEvents, privacy: privacy, scanner: scanner)
        deviceSecurity.begin(on: host, privacy)
        wire()
    }

    private func wire() {
        privacy.advertiser = advertiser
        privacy.scanner = scanner
        privacy.connector = connector
        host.onStateChange = { [weak self] in self?.hostChanged($0) }
        host.onConnection = { [weak self] in self?.connected($0) }
        host.onConnectionFailed = { [weak self] in self?.connector.ended($0) }
        host.onDisconnection = { [weak self] in self?.disconnected($0, $1) }
        privacy.onFailed = { [weak self] error in
            guard let self, case .refused(let opcode, let status) = error else { return }
            host.stop()
            leave(to: .failed(.commandRefused(opcode, status)))
        }
        connector.onFailure = { [weak self] in self?.connectorFailed($0, $1) }
        connector.onHeld = { [weak self] in self?.connectorFailed($0, .connectionAlreadyExists) }
        host.onEvent(LERemoteConnectionParameterRequest.self) { [weak self] in self?.answer($0) }
        host.onEvent(LEConnectionUpdateComplete.self) { [weak self] in self?.link($0.handle)?.updated($0) }
        wireSounding()
        scanner.onSighting = { [weak self] in self?.currentScan?.onSighting($0) }
        scanner.onFailed = { [weak self] in self?.scanEnded($0) }
        fallbacks.begin()
    }

    /// Passes the events of Channel Sounding to their links.
    private func wireSounding() {
        host.onEvent(LECSReadRemoteSupportedCapabilitiesComplete.self) { [weak self] in
            self?.link($0.handle)?.sounding?.receive($0)
        }
        host.onEvent(LECSSecurityEnableComplete.self) { [weak self] in self?.link($0.handle)?.sounding?.receive($0) }
        host.onEvent(LECSConfigComplete.self) { [weak self] in self?.link($0.handle)?.sounding?.receive($0) }
        host.onEvent(LECSProcedureEnableComplete.self) { [weak self] in self?.link($0.handle)?.sounding?.receive($0) }
        host.onEvent(LECSSubeventResult.self) { [weak self] in self?.link($0.handle)?.sounding?.receive($0) }
        host.onEvent(LECSSubeventResultContinue.self) { [weak self] in self?.link($0.handle)?.sounding?.receive($0) }
    }

    /// Initializes the controller. Does nothing if it is starting or ready.
    package func start() {
        host.start()
    }

    /// Stops the controller, which ends all links, modes and procedures.
    package func stop() {
        host.stop()
    }

    /// Disconnects all links, so that no peer has to wait for a supervision timeout. Calls `completion` when they have
    /// ended, or after `limit` if a peer does not answer.
    package func disconnectAll(within limit: Duration, _ completion: @escaping () -> Void) {
        guard !links.isEmpty else { return completion() }
        let timer = loop.schedule(after: limit) { [weak self] in self?.allDisconnected() }
        onAllDisconnected = { [weak self] in
            self?.loop.cancel(timer)
            completion()
        }
        for link in links { link.terminate() }
    }

    private func allDisconnected() {
        let completion = onAllDisconnected
        onAllDisconnected = nil
        completion?()
    }

    /// Calls `completion` once the final reset of a stopped controller has been sent (``HCIHost/whenSilent(_:)``).
    package func whenSilent(_ completion: @escaping () -> Void) {
        host.whenSilent(completion)
    }
}

// MARK: - Controller

extension GenericAccess {
    /// The capabilities of the controller; nil before it is ready.
    package var controllerInformation: ControllerInformation? { controller }

    /// The failure that caused the reset in progress; nil when no reset is in progress.
    package var resetCause: HCIHostError? { host.resetCause }

    /// Called when the controller was initialized again to use it in another way. All users of the radio are paused.
    func renewed(_ controller: ControllerInformation) {
        self.controller = controller
        advertiser.renewed(controller)
        scanner.renewed(controller)
        connector.renewed(controller)
    }

    private func hostChanged(_ new: HCIHost.State) {
        switch new {
        case .down: leave(to: .off)
        case .starting: leave(to: .starting)
        case .failed(let error): leave(to: .failed(error))
        case .ready(let controller): begin(controller)
        }
    }

    private func begin(_ controller: ControllerInformation) {
        if let openBonds {
            let bonds = openBonds(controller)
            if deviceSecurity.bonds !== bonds { deviceSecurity.bonds = bonds }
        }
        privacy.identity = identity.hidden(deviceSecurity.bonds)
        let address = identity.address(on: controller, deviceSecurity.bonds)
        ownAddress = address
        self.controller = controller
        let own = privacy.begin(address, on: controller)
        advertiser.begin(own, on: controller)
        scanner.begin(own, on: controller)
        connector.begin(own, on: controller)
        state = .ready(own)
        onStateChange?(state)
    }

    private func leave(to new: State) {
        controller = nil
        fallbacks.reset()
        privacy.reset()
        advertiser.reset()
        scanner.reset()
        connector.reset()
        scanEnded(.notReady)
        for watcher in watchers { watcher.report(.failure(.notReady), nil) }
        let ended = links
        links = []
        for link in ended { link.ended(.controllerGone(.hardwareFailure)) }
        state = new
        onStateChange?(new)
    }
}

// MARK: - Scanning

extension GenericAccess {
    /// Starts a scan. There is one owner at a time.
    ///
    /// - Parameter onEnd: Called when the scan ends by itself.
    /// - Throws: ``GAPError/notReady`` without a controller, ``GAPError/busy`` if another owner is scanning.
    package func scan(
        _ settings: ScanSettings,
        for owner: AnyObject,
        onSighting: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError) -> Void
    ) throws(GAPError) {
        guard case .ready = state else { throw .notReady }
        guard currentScan == nil || currentScan?.owner == ObjectIdentifier(owner) else { throw .busy }
        currentScan = Scan(owner: ObjectIdentifier(owner), onSighting: onSighting, onEnd: onEnd)
        scanner.want(settings)
    }

    /// Ends the scan of an owner without calling its `onEnd`.
    package func endScan(for owner: AnyObject) {
        guard currentScan?.owner == ObjectIdentifier(owner) else { return }
        currentScan = nil
        scanner.want(nil)
    }

    /// Keeps the advertising data of a device, regardless of the number of other devices, until ``release(_:)``
    /// (AB-G02).
    package func keep(_ address: BluetoothAddress) {
        scanner.keep(address)
    }

    /// Reverts one call of ``keep(_:)``.
    package func release(_ address: BluetoothAddress) {
        scanner.release(address)
    }

    private func scanEnded(_ error: GAPError) {
        let ended = currentScan
        currentScan = nil
        ended?.onEnd(error)
    }
}

// MARK: - Links

extension GenericAccess {
    /// Reports connections to `owner` until ``unwatchConnections(for:)``.
    package func watchConnections(for owner: AnyObject, _ report: @escaping ConnectionWatcher) {
        unwatchConnections(for: owner)
        watchers.append((ObjectIdentifier(owner), report))
    }

    package func unwatchConnections(for owner: AnyObject) {
        watchers.removeAll { $0.owner == ObjectIdentifier(owner) }
    }

    private func connected(_ connection: HCIConnection) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        var own = privacy.connected(connection) ?? ownAddress?.address ?? .none
        if connection.role == .peripheral, connection.localResolvableAddress == nil,
            let shown = advertiser.takeAddress(of: connection.handle)
        {
            privacy.connected(connection.handle, toSetAt: shown)
            own = shown
        }
        let made = AccessLink(
            LinkCommands(connection: connection, host: host, loop: loop, stackEvents: stackEvents),
            ownAddress: own,
            controller,
            peerFeatures,
            privacy,
            deviceSecurity,
            channels
        )
        made?.onReplaced = { [weak self, weak made] in if let made { self?.replaced(made) } }
        if let made { links.append(made) }
        fallbacks.linkBegan()
        if connection.role == .central {
            connector.connected(connection.peerAddress)
        } else {
            advertiser.centralConnected()
            connector.withdraw(connection.peerAddress)
        }
        guard let link = made else {
            if connection.role == .central { connectorFailed(connection.peerAddress, .connectionAlreadyExists) }
            return
        }
        onLink?(link)
        link.requestLongPackets()
        guard connection.role == .central else { return }
        for watcher in watchers { watcher.report(.success(link), link.peer) }
    }

    private func connectorFailed(_ peer: BluetoothAddress, _ status: HCIStatus) {
        let isExtended = controller.map { CommandGeneration($0) } == .extended
        let opcode = isExtended ? LEExtendedCreateConnection.opcode : LECreateConnection.opcode
        let identity = privacy.identity(of: peer)
        for watcher in watchers { watcher.report(.failure(.refused(opcode, status)), identity) }
    }

    private func disconnected(_ connection: HCIConnection, _ reason: HCIStatus) {
        let isUp = if case .ready = host.state { true } else { false }
        defer {
            if isUp {
                fallbacks.linkEnded()
                connector.linkEnded()
                assert(brokenInvariant == nil, brokenInvariant ?? "")
            }
        }
        if let index = links.firstIndex(where: { $0.connection === connection }) {
            // A lost controller ends all links.
            let link = links.remove(at: index)
            link.ended(isUp ? .disconnected(reason) : .controllerGone(reason))
        }
        if isUp { advertiser.linkEnded() }
        // Not from within the host, which the completion may stop.
        guard links.isEmpty, onAllDisconnected != nil else { return }
        loop.schedule(after: .zero) { [weak self] in self?.allDisconnected() }
    }

    private var brokenInvariant: String? {
        guard links.allSatisfy({ $0.connection.isOpen && host.connection($0.connection.handle) === $0.connection })
        else { return "a link without a connection of the host" }
        let handles = links.map(\.connection.handle.rawValue)
        guard Set(handles).count == handles.count else { return "two links have one connection" }
        return controller != nil || links.isEmpty ? nil : "a link without a controller"
    }

    /// Answers a peer's request for parameters by the link layer. Illegal ones do not reach the policy (AB-C10).
    private func answer(_ request: LERemoteConnectionParameterRequest) {
        let wanted = ConnectionParameters(
            intervalMinimum: request.intervalMin,
            intervalMaximum: request.intervalMax,
            latency: request.maxLatency,
            timeout: request.supervisionTimeout
        )
        guard wanted.isLegal, link(request.handle)?.parameterPolicy(wanted) == true else {
            return host.send(
                LERemoteConnectionParameterRequestNegativeReply(
                    handle: request.handle,
                    reason: .unacceptableConnectionParameters
                )
            )
        }
        host.send(
            LERemoteConnectionParameterRequestReply {
                $0.handle = request.handle
                $0.intervalMin = wanted.intervalMinimum
                $0.intervalMax = wanted.intervalMaximum
                $0.maxLatency = wanted.latency
                $0.supervisionTimeout = wanted.timeout
            }
        )
    }

    private func link(_ handle: ConnectionHandle) -> AccessLink? {
        links.first { $0.connection.handle == handle }
    }

    private func replaced(_ link: AccessLink) {
        links.removeAll { $0 === link }
        link.ended(.replaced)
    }
}

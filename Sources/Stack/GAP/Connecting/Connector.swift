import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// Establishes connections with legacy or extended commands as suits the controller.
package final class Connector: ConnectingUser, HeldRadioUser {
    package var settings = ConnectionSettings.specification
    /// Called when the controller cannot connect to a peer. The pending connection is removed.
    package var onFailure: ((BluetoothAddress, HCIStatus) -> Void)?
    /// Called when the controller claims to have a link to a peer already. The connection stays pending.
    package var onHeld: ((BluetoothAddress) -> Void)?

    package var onTrouble: ((ControllerTrouble) -> Bool)?
    private var holders = RadioHolders()

    private let host: HCIHost
    private let loop: any EventLoop
    private let stackEvents: StackEventSink
    private let privacy: DevicePrivacy?
    private let scanner: HostScanner?
    private var pending = PendingPeers()
    private var machine = ConnectorMachine()
    private var seeker = SeekMachine()
    private var ownAddress: OwnAddress?
    private var controller: ControllerInformation?
    private var turn: ScheduledTask?

    /// Creates a connector without pending connections.
    ///
    /// - Parameters:
    ///   - privacy: Provides the own address and resolves those of bonded peers; nil to use the address from
    ///     ``begin(_:on:)``.
    ///   - scanner: Scans for peers whose addresses the controller cannot resolve; nil for a device without a scanner.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        stackEvents: StackEventSink,
        privacy: DevicePrivacy? = nil,
        scanner: HostScanner? = nil
    ) {
        self.host = host
        self.loop = loop
        self.stackEvents = stackEvents
        self.privacy = privacy
        self.scanner = scanner
    }

    /// The reason why the controller does not search for peers now; nil once it has accepted an attempt.
    package private(set) var refusal: GAPError?

    /// The peers with a pending connection, bonded ones by their identity addresses.
    package var wanted: [BluetoothAddress] { pending.peers }

    /// Called when the controller is ready.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
        handle(.ready(acceptListSize: controller.acceptListSize))
    }

    /// Called when the controller's capabilities have been reassessed.
    func renewed(_ controller: ControllerInformation) {
        self.controller = controller
        handle(.ready(acceptListSize: controller.acceptListSize))
    }

    package var isBusy: Bool {
        switch machine.state {
        case .idle, .waiting: false
        case .initiating, .cancelling: true
        }
    }

    /// Called when the controller is gone. Removes all pending connections.
    package func reset() {
        holders = RadioHolders()
        ownAddress = nil
        controller = nil
        refusal = nil
        seek(.reset)
        handle(.reset)
    }

    /// Connects to a peer once it advertises, without a time limit (behaviour 3.1).
    ///
    /// Before ``begin(_:on:)`` the connection stays pending. For a bonded peer any of its addresses is accepted, both
    /// here and on the air.
    package func want(_ peer: BluetoothAddress) {
        let peer = identity(of: peer)
        guard !pending.contains(peer) else { return }
        guard pending.add(peer) else {
            onFailure?(peer, .connectionLimitExceeded)
            return
        }
        begin(peer)
    }

    /// Cancels a pending connection. If it is already being established, it may still complete.
    package func withdraw(_ peer: BluetoothAddress) {
        let peer = identity(of: peer)
        guard pending.contains(peer) else { return }
        seek(.withdraw(peer))
        handle(.withdraw(peer))
        pending.remove(peer)
    }

    /// Called when the controller has established a connection as central.
    package func connected(_ peer: BluetoothAddress) {
        let identity = identity(of: peer)
        let address = pending.address(of: identity) ?? peer.plain
        seek(.connected(identity))
        handle(.connected(address))
        pending.remove(identity)
    }

    /// Called when the controller's attempt has ended without a connection.
    package func ended(_ status: HCIStatus) {
        handle(.ended(status))
    }

    /// Called when any link has ended.
    func linkEnded() { handle(.linkEnded) }

    private func handle(_ event: ConnectorMachine.Event) {
        for action in machine.handle(event, &pending) {
            switch action {
            case .connect(let peer): create(.peerAddress, peer)
            case .connectToList(let peers): connect(to: peers)
            case .cancel:
                // The attempt ends with a Connection Complete event in any case (Core Vol 4 Part E 7.8.13).
                host.send(LECreateConnectionCancel()) { _ in }
            case .startTurn: startTurn()
            case .endTurn: if let turn = turn.take() { loop.cancel(turn) }
            case .startRetry(let pause):
                loop.schedule(after: pause) { [weak self] in self?.handle(.retry) }
            case .reportFailure(let address, let status): failed(address, status)
            case .reportHeld(let address): onHeld?(pending.peer(at: address) ?? address)
            case .reportPaused: privacy?.handle(.quiet(.connector))
            }
        }
    }

    private func failed(_ address: BluetoothAddress, _ status: HCIStatus) {
        let peer = pending.peer(at: address) ?? address
        seek(.failed(peer))
        pending.remove(peer)
        onFailure?(peer, status)
    }

    /// Sends all commands at once, so that a later cancel follows them.
    private func connect(to peers: [BluetoothAddress]) {
        host.send(LEClearFilterAcceptList()) { _ in }
        for peer in peers {
            host.send(LEAddDeviceToFilterAcceptList(address: peer)) { [weak self] result in
                guard let self, case .failure(let error) = result, !error.isOfHost else { return }
                stackEvents.report(AccessEvent.cannotWait(for: peer, error))
                handle(.withdraw(peer))
                failed(peer, error.status ?? .unspecifiedError)
            }
        }
        create(.acceptList, .none)
    }

    private func create(_ policy: LEInitiatorFilterPolicy, _ peer: BluetoothAddress) {
        guard let ownAddress = privacy?.sharedAddress ?? ownAddress, let controller else { return }
        if controller.fallbacks.contains(.takesTurns), onTrouble?(.needsTurn(.connector)) == true {
            return handle(.ended(.controllerBusy))
        }
        let attempt = ConnectionAttempt(policy: policy, peer: peer, ownAddress: ownAddress, settings: settings)
        switch CommandGeneration(controller) {
        case .legacy: send(attempt.legacyCommand, uses: [])
        case .extended:
            let phys = settings.phys(for: controller)
            send(attempt.extendedCommand(phys), uses: phys.subtracting(.le1M))
        }
    }

    /// - Parameter phys: The PHYs that the command names in addition to 1M.
    private func send<C: HCICommand>(_ command: C, uses phys: LEPHYs) {
        host.send(command) { [weak self] result in
            guard let self else { return }
            refusal = nil
            // Without a host all pending connections are gone anyway.
            guard case .failure(let error) = result, !error.isOfHost else { return }
            refusal = GAPError(error)
            if error.status == .connectionAlreadyExists {
                stackEvents.report(AccessEvent.staysPending(pending.queue.count, error))
            } else {
                stackEvents.report(AccessEvent.cannotConnect(error))
            }
            let isMended = onTrouble?(.refused(error, uses: phys)) ?? false
            handle(.ended(isMended ? .controllerBusy : error.status ?? .unspecifiedError))
            // The command without that PHY can be sent at once.
            if isMended, let controller, !phys.isSubset(of: settings.phys(for: controller)) { handle(.retry) }
        }
    }

    private func startTurn() {
        if let turn = turn.take() { loop.cancel(turn) }
        turn = loop.schedule(after: ConnectorMachine.turn) { [weak self] in
            self?.turn = nil
            self?.handle(.turnOver)
        }
    }
}

// MARK: - Peers with private addresses

extension Connector {
    /// The address under which a pending connection is kept: the identity address of a bonded peer.
    private func identity(of address: BluetoothAddress) -> BluetoothAddress {
        privacy?.identity(of: address) ?? address.plain
    }

    /// Starts connecting to a peer. The controller does the search if it can resolve the peer's address, otherwise the
    /// host.
    private func begin(_ peer: BluetoothAddress) {
        guard let privacy, isResolvedByHost(peer) else { return handle(.want(peer)) }
        seek(.want(peer))
        // The peer may have been chosen from a recent scan.
        if let address = privacy.recentAddress(of: peer) { seek(.received(peer, at: address)) }
    }

    /// Called when the resolving list or the bonds have changed. Moves pending connections between controller and host.
    package func reviewRoutes() {
        for peer in wanted {
            guard pending.isSought(peer) != isResolvedByHost(peer) else { continue }
            seek(.withdraw(peer))
            handle(.withdraw(peer))
            begin(peer)
        }
    }

    private func isResolvedByHost(_ peer: BluetoothAddress) -> Bool {
        scanner != nil && privacy?.isResolvedByHost(peer) == true
    }

    private func seek(_ event: SeekMachine.Event) {
        for action in seeker.handle(event, &pending) {
            switch action {
            case .listen: listen()
            case .endListening: scanner?.seek(nil)
            case .connect(let address): handle(.want(address))
            case .giveUp(let address): handle(.withdraw(address))
            case .startTimer(let peer):
                endTimer(of: peer)
                let timer = loop.schedule(after: SeekMachine.tryTime) { [weak self] in
                    _ = self?.pending.exchangeTimer(of: peer, for: nil)
                    self?.seek(.timeOver(peer))
                }
                _ = pending.exchangeTimer(of: peer, for: timer)
            case .endTimer(let peer): endTimer(of: peer)
            }
        }
    }

    private func endTimer(of peer: BluetoothAddress) {
        if let timer = pending.exchangeTimer(of: peer, for: nil) { loop.cancel(timer) }
    }

    private func listen() {
        guard let scanner else { return }
        scanner.onBondedPeer = { [weak self] in self?.seek(.received($0, at: $1)) }
        scanner.onSeekFailed = { [weak self] error in
            guard let self else { return }
            for peer in pending.sought { failed(peer, error.status ?? .unspecifiedError) }
        }
        var how = ScanSettings(isActive: false, interval: settings.scanInterval, window: settings.scanWindow)
        how.phys = settings.phys
        scanner.seek(how)
    }

    package func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        handle(.pause)
    }

    package func resume(_ holder: RadioHolders.Holder) {
        if holders.remove(holder) { handle(.resume) }
    }
}

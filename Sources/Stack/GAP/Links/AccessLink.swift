import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Security

/// A link with L2CAP and, once opened, the Attribute Protocol.
package final class AccessLink {
    /// The way in which a link ended.
    package enum End: Hashable, Sendable {
        /// One of the devices disconnected, or the link was lost.
        case disconnected(HCIStatus)
        /// Another link to the peer replaced this one, which may stay on the air for a while.
        case replaced
        /// The controller is gone, and all links with it.
        case controllerGone(HCIStatus)

        /// The corresponding error code (Core Vol 1 Part F).
        package var reason: HCIStatus {
            switch self {
            case .disconnected(let reason), .controllerGone(let reason): reason
            case .replaced: .localHostTerminated
            }
        }
    }

    package let connection: HCIConnection
    /// The L2CAP channels. Register fixed channels in ``GenericAccess/onLink``; the Security Manager's is already
    /// registered.
    package let l2cap: L2CAPConnection
    package let secureLink: SecureLink
    /// Channel Sounding on the link; nil if the controller does not support it.
    package let sounding: LinkSounding?
    /// Decides on the peer's requests for other connection parameters, by the link layer or by L2CAP. Illegal
    /// parameters are refused before this is called (AB-C10).
    package var parameterPolicy: (ConnectionParameters) -> Bool = { _ in true }
    package var onEnd: ((End) -> Void)?
    /// Called when the connection parameters have changed, whichever side requested it.
    package var onParametersChanged: (() -> Void)?

    /// Called when another link to the same peer replaces this one.
    var onReplaced: (() -> Void)?

    private let loop: any EventLoop
    private let commands: LinkCommands
    /// The capabilities of the controller that has established the link.
    private let controller: ControllerInformation?
    private let peerFeatures: PeerFeatures
    private let privacy: DevicePrivacy
    private var update = ParameterUpdateMachine()
    private var updateTimer: ScheduledTask?
    private var updateCompletion: ((Result<Void, GAPError>) -> Void)?
    private var onEstablished: (() -> Void)?
    private var establishment: ScheduledTask?
    package private(set) var isOpen = true
    /// The Attribute Protocol on the link; nil until it is opened.
    package private(set) var attributes: LinkAttributes?

    /// The way in which a peripheral requests connection parameters.
    package enum ParameterRequest: Sendable {
        /// By the link layer if both sides support it, otherwise by L2CAP.
        case automatic
        /// By the link layer (Core Vol 6 Part B 5.1.7).
        case linkLayer
        /// By L2CAP (Core Vol 3 Part A 4.20).
        case l2cap
    }

    /// Returns nil if another link to the peer takes precedence.
    init?(
        _ commands: LinkCommands,
        ownAddress: BluetoothAddress,
        _ controller: ControllerInformation?,
        _ peerFeatures: PeerFeatures,
        _ privacy: DevicePrivacy,
        _ security: DeviceSecurity,
        _ channels: ChannelServers
    ) {
        self.commands = commands
        self.controller = controller
        self.peerFeatures = peerFeatures
        self.privacy = privacy
        connection = commands.connection
        sounding = controller?.supports(LECSProcedureEnable.self) == true ? LinkSounding(commands) : nil
        loop = commands.loop
        l2cap = L2CAPConnection(
            link: connection,
            role: connection.role == .central ? .central : .peripheral,
            loop: loop,
            servers: channels
        )
        guard let secureLink = security.attach(connection, l2cap, ownAddress: ownAddress) else {
            return nil
        }
        self.secureLink = secureLink
        secureLink.owner = self
        l2cap.parameterPolicy = { [weak self] in self?.parameterPolicy($0) ?? false }
        if connection.role == .peripheral { sounding?.reflect() }
        l2cap.onParametersAccepted = { [weak self] parameters in self?.commands.update(parameters) }
    }

    /// The peer's address: the identity address if it is bonded.
    package var peer: BluetoothAddress {
        privacy.identity(of: connection.peerAddress)
    }

    /// Opens the Attribute Protocol as client and, if `server` is given, as server. Later calls return the existing
    /// object. Call this in ``GenericAccess/onLink``, before anything is received.
    ///
    /// - Parameters:
    ///   - mtu: The MTU to offer, 23 to 517.
    ///   - listener: Accepts enhanced bearers that the peer opens. Without it the link has no enhanced bearers.
    @discardableResult
    package func openAttributes(
        mtu: Int,
        server: GATTServer? = nil,
        enhanced listener: EnhancedBearerListener? = nil
    ) -> LinkAttributes {
        if let attributes { return attributes }
        let bearer = ATTBearer(
            channel: l2cap.register(.attribute, maximumPayload: mtu),
            loop: loop,
            preferredMTU: mtu
        )
        let enhanced = listener.map { EnhancedBearers(connection: l2cap, loop: loop, listener: $0) }
        let made = LinkAttributes(bearer, enhanced, server: server, secureLink: secureLink)
        attributes = made
        updateTiming()
        return made
    }

    /// Calls `completion` once the peer has proved to be using the link, or never if the link ends before.
    ///
    /// A central's controller reports a connection before the peer has answered. The peer may have missed the
    /// connection request; the link is then lost after six intervals without an answer (Core Vol 6 Part B 4.5.2).
    package func whenEstablished(_ completion: @escaping () -> Void) {
        guard isOpen, connection.role == .central,
            controller?.supports(LEReadRemoteFeatures.self) == true
        else { return completion() }
        onEstablished = completion
        // By then even a controller that never answers has reported the loss of the link.
        establishment = loop.schedule(after: .microseconds(8 * 1_250 * Int64(connection.interval) + 100_000)) {
            [weak self] in self?.established()
        }
        peerFeatures.read(of: connection) { [weak self] in self?.established() }
    }

    private func established() {
        let completion = onEstablished
        endEstablishment()
        completion?()
    }

    private func endEstablishment() {
        if let establishment = establishment.take() { loop.cancel(establishment) }
        onEstablished = nil
    }

    /// Disconnects the link (Core Vol 3 Part C 9.3.10).
    package func terminate() {
        guard isOpen else { return }
        commands.disconnect()
    }

    /// Reads the signal strength of the link, in dBm.
    package func readRSSI(_ completion: @escaping (Result<Int, HCICommandError>) -> Void) {
        guard isOpen else { return completion(.failure(.host(.notRunning))) }
        commands.readRSSI(completion)
    }

    /// Requests a PHY; an invalid one is ignored. The connection shows whether both controllers have accepted it.
    package func prefer(phy: LEPHY) {
        guard isOpen, (1...3).contains(phy.rawValue) else { return }
        commands.setPHY(phy)
    }

    /// Updates the connection parameters as central, or asks the central to do so as peripheral (Core Vol 3 Part C
    /// 9.3.9).
    ///
    /// - Parameter completion: Called once, when the new parameters are in effect or with an error. The error is
    ///   ``GAPError/busy`` if an update is already in progress.
    package func updateParameters(
        _ parameters: ConnectionParameters,
        by request: ParameterRequest = .automatic,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard isOpen else { return completion(.failure(.linkLost(.unknownConnection))) }
        guard updateCompletion == nil else { return completion(.failure(.busy)) }
        updateCompletion = completion
        perform(update.handle(.request(parameters, way(request))))
    }

    private func way(_ request: ParameterRequest) -> ParameterUpdateMachine.Way {
        guard connection.role == .peripheral else { return .linkLayer }
        switch request {
        case .linkLayer: return .linkLayer
        case .l2cap: return .l2cap
        case .automatic:
            let features = controller?.leFeatures ?? []
            return features.contains(.connectionParametersRequest) ? .linkLayerFirst : .l2cap
        }
    }

    private func perform(_ actions: [ParameterUpdateMachine.Action]) {
        for action in actions {
            switch action {
            case .askLinkLayer(let parameters):
                commands.update(parameters) { [weak self] error in
                    guard let self else { return }
                    perform(update.handle(.refused(error)))
                }
            case .askByL2CAP(let parameters):
                l2cap.requestParameterUpdate(parameters) { [weak self] outcome in
                    guard let self else { return }
                    perform(update.handle(.answered(outcome)))
                }
            case .startTimer: startTimer()
            case .endTimer: if let updateTimer = updateTimer.take() { loop.cancel(updateTimer) }
            case .finish(let error):
                let completion = updateCompletion
                updateCompletion = nil
                completion?(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    private func startTimer() {
        if let updateTimer = updateTimer.take() { loop.cancel(updateTimer) }
        updateTimer = loop.schedule(after: GAPTimer.connectionParameters) { [weak self] in
            guard let self else { return }
            updateTimer = nil
            perform(update.handle(.timeout))
        }
    }

    func requestLongPackets() {
        if let controller { commands.requestLongPackets(controller) }
    }

    /// Called when the controller has updated the parameters or failed to.
    func updated(_ event: LEConnectionUpdateComplete) {
        perform(
            update.handle(
                .completed(
                    event.status,
                    interval: event.interval,
                    latency: event.latency,
                    timeout: event.supervisionTimeout
                )
            )
        )
        guard event.status == .success else { return }
        updateTiming()
        onParametersChanged?()
    }

    private func updateTiming() {
        attributes?.enhanced?.linkTiming(
            interval: .microseconds(Int(connection.interval) * Int(connection.subrateFactor) * 1250),
            latency: Int(connection.latency)
        )
    }

    func ended(_ end: End) {
        guard isOpen else { return }
        isOpen = false
        endEstablishment()
        perform(update.handle(.linkEnded(end.reason)))
        attributes?.end()
        secureLink.end()
        l2cap.close()
        assert(updateTimer == nil && establishment == nil, "a link that has ended has a timer")
        onEnd?(end)
    }
}

// MARK: - Security

extension AccessLink: SecureLinkOwner {
    package func secureLink(_ secureLink: SecureLink, changedFrom old: LinkSecurity) {
        attributes?.linkSecurityChanged(from: old)
    }

    package func secureLinkWasReplaced(_ secureLink: SecureLink) { onReplaced?() }
}

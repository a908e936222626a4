import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Privacy
import Security

/// One link of a device, with L2CAP on it, and the attribute protocol once somebody wants it.
package final class AccessLink {
    /// How a link came to its end.
    package enum End: Hashable, Sendable {
        /// It was ended by one of the two devices, or lost.
        case disconnected(HCIStatus)
        /// Another link to the peer counts from now on; that this one ends on the air may take a while.
        case replaced
        /// The controller is gone, and all links with it.
        case controllerGone(HCIStatus)

        /// The error code for it (Core Vol 1 Part F).
        package var reason: HCIStatus {
            switch self {
            case .disconnected(let reason), .controllerGone(let reason): reason
            case .replaced: .localHostTerminated
            }
        }
    }

    /// The link as HCI knows it.
    package let connection: HCIConnection
    /// The channels on it. Whoever wants one registers it in ``GenericAccess/onLink``; that of the Security Manager is there.
    package let l2cap: L2CAPConnection
    /// How well the link is protected, and how it becomes so.
    package let security: SecureLink
    /// Whether to follow a peer that asks for other parameters, in whichever way. What is not legal is refused whatever this
    /// says (AB-C10).
    package var parameterPolicy: (ConnectionParameters) -> Bool = { _ in true }
    /// Called once when the link has ended.
    package var onEnd: ((End) -> Void)?
    /// Called when the parameters have changed, whoever asked for it.
    package var onParametersChanged: (() -> Void)?

    private weak var access: GenericAccess?
    private var update = ParameterUpdateMachine()
    private var updateTimer: ScheduledTask?
    private var updateCompletion: ((Result<Void, GAPError>) -> Void)?
    private var onEstablished: (() -> Void)?
    private var establishment: ScheduledTask?
    /// Whether the link is there.
    package private(set) var isOpen = true
    /// The attribute protocol on the link, once it is opened.
    package private(set) var attributes: LinkAttributes?

    /// How a peripheral asks for parameters.
    package enum ParameterRequest: Sendable {
        /// By the link layer where both ends can, by L2CAP otherwise.
        case automatic
        /// By the link layer (Core Vol 6 Part B 5.1.7).
        case linkLayer
        /// By L2CAP (Core Vol 3 Part A 4.20).
        case l2cap
    }

    /// Nil when there is another link to the peer, which counts.
    init?(_ connection: HCIConnection, ownAddress: BluetoothAddress, access: GenericAccess) {
        self.connection = connection
        self.access = access
        l2cap = L2CAPConnection(
            link: connection,
            role: connection.role == .central ? .central : .peripheral,
            loop: access.loop,
            servers: access.channels
        )
        guard let security = access.security.attach(connection, l2cap, ownAddress: ownAddress) else { return nil }
        self.security = security
        security.onReplaced = { [weak self] in
            guard let self else { return }
            self.access?.replaced(self)
        }
        l2cap.parameterPolicy = { [weak self] in self?.parameterPolicy($0) ?? false }
        l2cap.onParametersAccepted = { [weak self] parameters in
            guard let self else { return }
            self.access?.connector.update(connection, parameters)
        }
    }

    /// The peer: by its identity address when it is bonded.
    package var peer: BluetoothAddress {
        access?.privacy.identity(of: connection.peerAddress) ?? connection.peerAddress.plain
    }

    /// Opens the attribute protocol, once: as client of the peer, and as the peer's server if there is one. Called before
    /// anything is received, in ``GenericAccess/onLink``.
    ///
    /// - Parameters:
    ///   - mtu: The MTU that is offered, 23 to 517.
    ///   - listener: Takes the enhanced bearers that peers open; without it the link has none.
    @discardableResult
    package func openAttributes(
        mtu: Int,
        server: GATTServer? = nil,
        enhanced listener: EnhancedBearerListener? = nil
    ) -> LinkAttributes {
        if let attributes { return attributes }
        let bearer = ATTBearer(
            channel: l2cap.register(.attribute, maximumPayload: mtu),
            loop: security.device.loop,
            preferredMTU: mtu
        )
        let enhanced = listener.map { EnhancedBearers(connection: l2cap, loop: security.device.loop, listener: $0) }
        let made = LinkAttributes(bearer, enhanced, server: server, security: security)
        attributes = made
        tellTiming()
        return made
    }

    /// Calls `completion` once the peer is known to use the link, and never when the link ends before that. A controller reports a
    /// connection that it has requested before the peer has answered, which may have missed the request; after six intervals without
    /// an answer the link is lost (Core Vol 6 Part B 4.5.2).
    package func whenEstablished(_ completion: @escaping () -> Void) {
        guard isOpen, let access, connection.role == .central,
            access.controllerInformation?.supports(LEReadRemoteFeatures.self) == true
        else { return completion() }
        onEstablished = completion
        // Until then a controller that answers nothing has told that the link is lost.
        establishment = access.loop.schedule(after: .microseconds(8 * 1_250 * Int64(connection.interval) + 100_000)) {
            [weak self] in self?.established()
        }
        access.peerFeatures.read(of: connection) { [weak self] result in
            if case .success = result { self?.established() }
        }
    }

    private func established() {
        let completion = onEstablished
        endEstablishment()
        completion?()
    }

    private func endEstablishment() {
        if let establishment { access?.loop.cancel(establishment) }
        (establishment, onEstablished) = (nil, nil)
    }

    /// Ends the link (Core Vol 3 Part C 9.3.10).
    package func terminate() {
        guard isOpen else { return }
        access?.connector.disconnect(connection)
    }

    /// Reads the signal strength of the link in dBm.
    package func readRSSI(_ completion: @escaping (Result<Int, HCICommandError>) -> Void) {
        guard let access, isOpen else { return completion(.failure(.host(.notRunning))) }
        access.connector.readRSSI(connection, completion)
    }

    /// Asks for a PHY, if there is such a one. Whether both controllers know it shows at the connection.
    package func prefer(phy: LEPHY) {
        guard isOpen, (1...3).contains(phy.rawValue) else { return }
        access?.connector.setPHY(phy, of: connection)
    }

    /// Changes the parameters of the link, as central, or asks the central to, as peripheral (Core Vol 3 Part C 9.3.9). One
    /// attempt at a time. `completion` is called once: when the new parameters are in effect, or with why they are not.
    ///
    /// - Parameter request: How a peripheral asks.
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
            let features = access?.controllerInformation?.leFeatures ?? []
            return features.contains(.connectionParametersRequest) ? .linkLayerFirst : .l2cap
        }
    }

    private func perform(_ actions: [ParameterUpdateMachine.Action]) {
        for action in actions {
            switch action {
            case .askLinkLayer(let parameters):
                access?.connector.update(connection, parameters) { [weak self] error in
                    guard let self else { return }
                    perform(update.handle(.refused(error)))
                }
            case .askByL2CAP(let parameters):
                l2cap.requestParameterUpdate(parameters) { [weak self] outcome in
                    guard let self else { return }
                    perform(update.handle(.answered(outcome)))
                }
            case .startTimer: startTimer()
            case .endTimer: endTimer()
            case .finish(let error):
                let completion = updateCompletion
                updateCompletion = nil
                completion?(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    private func startTimer() {
        endTimer()
        updateTimer = access?.loop.schedule(after: GAPTimer.connectionParameters) { [weak self] in
            guard let self else { return }
            updateTimer = nil
            perform(update.handle(.timeout))
        }
    }

    private func endTimer() {
        if let updateTimer { access?.loop.cancel(updateTimer) }
        updateTimer = nil
    }

    /// The controller tells of new parameters, or of an attempt that failed.
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
        tellTiming()
        onParametersChanged?()
    }

    /// The link uses other events than before.
    func subrated() {
        tellTiming()
        onParametersChanged?()
    }

    private func tellTiming() {
        attributes?.enhanced?.linkTiming(
            interval: .microseconds(Int(connection.interval) * Int(connection.subrateFactor) * 1250),
            latency: Int(connection.latency)
        )
    }

    /// The link is gone.
    func ended(_ end: End) {
        guard isOpen else { return }
        isOpen = false
        endEstablishment()
        perform(update.handle(.linkEnded(end.reason)))
        attributes?.end()
        security.end()
        l2cap.close()
        onEnd?(end)
    }
}

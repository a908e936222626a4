import BluetoothTypes
import EventLoops
import HCI
import L2CAP
import Logging

/// Makes connections as an Apple central does, changes their parameters and ends them.
public final class Connector {
    /// The first connection parameters: an interval of 30 ms, no latency, a supervision timeout of 720 ms (behaviour 3.26).
    public static let parameters = ConnectionParameters(
        intervalMinimum: 24,
        intervalMaximum: 24,
        latency: 0,
        timeout: 72
    )

    /// Called for a wanted peer that the controller cannot connect to; it is not wanted any more.
    public var onFailure: ((BluetoothAddress, HCIStatus) -> Void)?

    private let host: HCIHost
    private let loop: any EventLoop
    private let logger: Logger
    private var machine = ConnectorMachine()
    private var ownAddress: OwnAddress?
    private var turn: ScheduledTask?

    /// A connector that wants nobody.
    public init(host: HCIHost, loop: any EventLoop, logger: Logger) {
        self.host = host
        self.loop = loop
        self.logger = logger
        host.onEvent(LERemoteConnectionParameterRequest.self) { [weak self] in self?.answer($0) }
    }

    /// The controller is ready, with a filter accept list of so many entries.
    public func begin(_ address: OwnAddress, acceptListSize: Int) {
        ownAddress = address
        handle(.ready(acceptListSize: acceptListSize))
    }

    /// The controller is gone; nobody is wanted any more.
    public func reset() {
        ownAddress = nil
        handle(.reset)
    }

    /// Connects to a peer as soon as it is heard, without a time limit (behaviour 3.1). Before
    /// ``begin(_:acceptListSize:)`` the wish waits.
    public func want(_ peer: BluetoothAddress) {
        handle(.want(peer))
    }

    /// Gives a wish up. A connection may come nevertheless, if it was on its way.
    public func unwant(_ peer: BluetoothAddress) {
        handle(.unwant(peer))
    }

    /// The controller's attempt has led to a connection.
    public func connected(_ peer: BluetoothAddress) {
        handle(.connected(peer))
    }

    /// The controller's attempt has ended without one.
    public func ended(_ status: HCIStatus) {
        handle(.ended(status))
    }

    /// Ends a link.
    public func disconnect(_ connection: HCIConnection) {
        host.send(Disconnect(handle: connection.handle, reason: .remoteUserTerminated)) { [logger] result in
            if case .failure(let error) = result { logger.debug("cannot disconnect: \(error)") }
        }
    }

    /// As central: gives a link other parameters.
    public func update(_ connection: HCIConnection, _ parameters: ConnectionParameters) {
        host.send(
            LEConnectionUpdate(
                handle: connection.handle,
                intervalMin: parameters.intervalMinimum,
                intervalMax: parameters.intervalMaximum,
                maxLatency: parameters.latency,
                supervisionTimeout: parameters.timeout,
                minCELength: 0,
                maxCELength: 0
            )
        ) { [logger] result in
            if case .failure(let error) = result { logger.debug("cannot update the connection: \(error)") }
        }
    }

    /// The peer asks for other parameters by the link layer's way. As central Apple's rules hold (behaviour 3.27); as peripheral
    /// whatever the specification allows.
    private func answer(_ request: LERemoteConnectionParameterRequest) {
        let wanted = ConnectionParameters(
            intervalMinimum: request.intervalMin,
            intervalMaximum: request.intervalMax,
            latency: request.maxLatency,
            timeout: request.supervisionTimeout
        )
        let isCentral = host.connection(request.handle)?.role == .central
        guard isCentral ? AppleConnectionParameterRules().accept(wanted) : wanted.isLegal else {
            return host.send(
                LERemoteConnectionParameterRequestNegativeReply(
                    handle: request.handle,
                    reason: .unacceptableConnectionParameters
                )
            )
        }
        host.send(
            LERemoteConnectionParameterRequestReply(
                handle: request.handle,
                intervalMin: wanted.intervalMinimum,
                intervalMax: wanted.intervalMaximum,
                maxLatency: wanted.latency,
                supervisionTimeout: wanted.timeout,
                minCELength: 0,
                maxCELength: 0
            )
        )
    }

    /// Reads the signal strength of a link in dBm.
    public func readRSSI(
        _ connection: HCIConnection,
        _ completion: @escaping (Result<Int, HCICommandError>) -> Void
    ) {
        host.send(ReadRSSI(handle: connection.handle)) { result in completion(result.map { Int($0.rssi) }) }
    }

    private func handle(_ event: ConnectorMachine.Event) {
        for action in machine.handle(event) {
            switch action {
            case .connect(let peer): create(.peerAddress, peer)
            case .connectToList(let peers): connect(to: peers)
            case .cancel:
                // Whatever comes of it, the end is a connection complete event (Core Vol 4 Part E 7.8.13).
                host.send(LECreateConnectionCancel()) { _ in }
            case .startTurn: startTurn()
            case .endTurn: endTurn()
            case .startRetry:
                loop.schedule(after: ConnectorMachine.retryDelay) { [weak self] in self?.handle(.retry) }
            case .reportFailure(let peer, let status): onFailure?(peer, status)
            }
        }
    }

    private func connect(to peers: [BluetoothAddress]) {
        host.send(LEClearFilterAcceptList()) { _ in }
        for peer in peers {
            host.send(LEAddDeviceToFilterAcceptList(address: peer)) { [logger] result in
                if case .failure(let error) = result { logger.warning("cannot wait for \(peer): \(error)") }
            }
        }
        create(.acceptList, .none)
    }

    private func create(_ policy: LEInitiatorFilterPolicy, _ peer: BluetoothAddress) {
        guard let ownAddress else { return }
        let parameters = Self.parameters
        host.send(
            LECreateConnection(
                scanInterval: Scanner.interval,
                scanWindow: Scanner.window,
                filterPolicy: policy,
                peerAddress: peer,
                ownAddressKind: ownAddress.kind,
                intervalMin: parameters.intervalMinimum,
                intervalMax: parameters.intervalMaximum,
                maxLatency: parameters.latency,
                supervisionTimeout: parameters.timeout,
                minCELength: 0,
                maxCELength: 0
            )
        ) { [weak self] result in
            // Without a host all wishes are over anyway.
            guard let self, case .failure(let error) = result, !error.isOfHost else { return }
            logger.warning("cannot connect: \(error)")
            handle(.ended(error.status ?? .unspecifiedError))
        }
    }

    private func startTurn() {
        endTurn()
        turn = loop.schedule(after: ConnectorMachine.turn) { [weak self] in
            self?.turn = nil
            self?.handle(.turnOver)
        }
    }

    private func endTurn() {
        if let turn { loop.cancel(turn) }
        turn = nil
    }
}

extension HCICommandError {
    /// Whether there is no controller to refuse anything.
    var isOfHost: Bool {
        if case .host = self { true } else { false }
    }
}

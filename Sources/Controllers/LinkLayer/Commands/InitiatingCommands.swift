import BluetoothTypes
import HCI

/// Legacy commands that make connections (Core Vol 4 Part E 7.8.12, 7.8.13), and code shared with the commands that
/// update them.
extension CommandTable {
    mutating func addInitiatingCommands() {
        add(LECreateConnection.self, as: .legacy) { $0.createConnection($1) }
        add(LECreateConnectionCancel.self) { controller, _ in controller.cancelConnection() }
    }
}

/// The connection parameters common to several commands.
protocol ConnectionParameterFields {
    var intervalMin: UInt16 { get }
    var intervalMax: UInt16 { get }
    var maxLatency: UInt16 { get }
    var supervisionTimeout: UInt16 { get }
    var minCELength: UInt16 { get }
    var maxCELength: UInt16 { get }
}

extension LECreateConnection: ConnectionParameterFields {}
extension PHYConnectionParameters: ConnectionParameterFields {}
extension LEConnectionUpdate: ConnectionParameterFields {}
extension LERemoteConnectionParameterRequestReply: ConnectionParameterFields {}

extension ConnectionParameterFields {
    /// Whether the parameters are in range and consistent (7.8.12).
    var areParametersValid: Bool {
        (6...3_200).contains(intervalMin) && intervalMin <= intervalMax && minCELength <= maxCELength
            && LinkTiming(interval: intervalMax, latency: maxLatency, timeout: supervisionTimeout).isValid
    }

    /// The parameters in the form of the link layer.
    var parameters: ConnectionParameterRequest {
        var parameters = ConnectionParameterRequest()
        parameters.intervalMin = intervalMin
        parameters.intervalMax = intervalMax
        parameters.latency = maxLatency
        parameters.timeout = supervisionTimeout
        return parameters
    }
}

extension VirtualController {
    fileprivate func createConnection(_ command: LECreateConnection) -> HCIStatus {
        guard !isMakingConnection else { return .commandDisallowed }
        let namesPeer = command.filterPolicy == .peerAddress
        guard command.areParametersValid, command.filterPolicy.rawValue <= 1,
            isScanTimingValid(interval: command.scanInterval, window: command.scanWindow),
            !namesPeer || canConnect(to: command.peerAddress)
        else { return .invalidParameters }
        return connect(as: command.ownAddressKind, to: namesPeer ? command.peerAddress : nil) {
            initiator.start(LEExtendedCreateConnection(command), isExtended: false, as: $0)
        }
    }

    /// Starts to connect with an own address of this kind, if there can be one more link.
    ///
    /// - Parameter peer: The peer that the command names; nil for those on the accept list.
    func connect(
        as kind: OwnAddressKind,
        to peer: BluetoothAddress?,
        _ start: (OwnAddressParameters) -> Void
    ) -> HCIStatus {
        if let error = checkOwnAddress(kind) { return error }
        let own = ownAddress(kind)
        guard hasAddress(own, towards: peer) else { return .invalidParameters }
        if let peer, isConnected(privacy.lastingAddress(own, towards: peer), peer) { return .connectionAlreadyExists }
        guard links.count < configuration.maximumLinks else { return .connectionLimitExceeded }
        start(own)
        return .success
    }

    fileprivate func cancelConnection() -> HCIStatus {
        if let train = connectingTrain { return cancel(train) }
        // A CONNECT_IND on its way cannot be cancelled: that connection will be made.
        guard initiator.isEnabled, !initiator.isCommitted else { return .commandDisallowed }
        let peer = initiator.command.peerAddress
        initiator.stop()
        reportFailedConnection(.unknownConnection, role: .central, peer: peer)
        return .success
    }

    private func cancel(_ train: PeriodicAdvertiser) -> HCIStatus {
        guard let pendingConnect = train.cancelConnection() else { return .commandDisallowed }
        let peer = pendingConnect.command.peerAddress
        reportFailedConnection(.unknownConnection, role: .central, peer: peer, train: .init(set: train.set))
        return .success
    }
}

extension LEExtendedCreateConnection {
    /// Creates an extended command equivalent to a legacy one.
    init(_ legacy: LECreateConnection) {
        self.init {
            $0.filterPolicy = legacy.filterPolicy
            $0.ownAddressKind = legacy.ownAddressKind
            $0.peerAddress = legacy.peerAddress
            $0.le1M = PHYConnectionParameters {
                $0.scanInterval = legacy.scanInterval
                $0.scanWindow = legacy.scanWindow
                $0.intervalMin = legacy.intervalMin
                $0.intervalMax = legacy.intervalMax
                $0.maxLatency = legacy.maxLatency
                $0.supervisionTimeout = legacy.supervisionTimeout
                $0.minCELength = legacy.minCELength
                $0.maxCELength = legacy.maxCELength
            }
        }
    }
}

import BluetoothTypes
import HCI

/// Legacy commands that make connections (Core Vol 4 Part E 7.8.12, 7.8.13), and code shared with the commands that
/// update them.
extension CommandTable {
    mutating func addInitiatingCommands() {
        add(LECreateConnection.self) { controller, command in controller.createConnection(command) }
        mark([LECreateConnection.opcode], as: .legacy)
        add(LECreateConnectionCancel.self) { controller, _ in controller.cancelConnection() }
    }
}

/// The connection parameters common to several commands.
struct RequestedParameters {
    var intervalMin: UInt16
    var intervalMax: UInt16
    var latency: UInt16
    var timeout: UInt16
    var minCELength: UInt16
    var maxCELength: UInt16

    /// Whether the parameters are in range and consistent (7.8.12).
    var isValid: Bool {
        (6...3_200).contains(intervalMin) && intervalMin <= intervalMax && minCELength <= maxCELength
            && LinkTiming(interval: intervalMax, latency: latency, timeout: timeout).isValid
    }

    /// The parameters in the form of the link layer.
    var parameters: ConnectionParameterRequest {
        var parameters = ConnectionParameterRequest()
        parameters.intervalMin = intervalMin
        parameters.intervalMax = intervalMax
        parameters.latency = latency
        parameters.timeout = timeout
        return parameters
    }
}

extension VirtualController {
    fileprivate func createConnection(_ command: LECreateConnection) -> HCIStatus {
        guard !isMakingConnection else { return .commandDisallowed }
        let requested = RequestedParameters(
            intervalMin: command.intervalMin,
            intervalMax: command.intervalMax,
            latency: command.maxLatency,
            timeout: command.supervisionTimeout,
            minCELength: command.minCELength,
            maxCELength: command.maxCELength
        )
        let namesPeer = command.filterPolicy == .peerAddress
        guard requested.isValid, command.filterPolicy.rawValue <= 1,
            isScanTimingValid(interval: command.scanInterval, window: command.scanWindow),
            !namesPeer || canConnect(to: command.peerAddress)
        else { return .invalidParameters }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        let own = ownAddress(command.ownAddressKind)
        guard hasAddress(own, towards: namesPeer ? command.peerAddress : nil) else { return .invalidParameters }
        if namesPeer, isConnected(privacy.lastingAddress(own, towards: command.peerAddress), command.peerAddress) {
            return .connectionAlreadyExists
        }
        guard links.count < configuration.maximumLinks else { return .connectionLimitExceeded }
        initiator.start(LEExtendedCreateConnection(command), isExtended: false, as: own)
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

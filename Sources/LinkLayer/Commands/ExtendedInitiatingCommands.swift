import BluetoothTypes
import HCI

/// LE Extended Create Connection (Core Vol 4 Part E 7.8.66).
extension CommandTable {
    mutating func addExtendedInitiatingCommands() {
        add(LEExtendedCreateConnection.self) { controller, command in controller.createConnection(command) }
        mark([LEExtendedCreateConnection.opcode], as: .extended, feature: .extendedAdvertising)
    }
}

extension VirtualController {
    fileprivate func createConnection(_ command: LEExtendedCreateConnection) -> HCIStatus {
        guard !initiator.isEnabled else { return .commandDisallowed }
        guard command.le2M == nil || supportedPHYs.contains(.le2M),
            command.coded == nil || supportedPHYs.contains(.coded)
        else { return .unsupportedFeatureOrParameter }
        // 2M is not listened to on the primary channels.
        guard command.le1M != nil || command.coded != nil else { return .invalidParameters }
        let phys = [command.le1M, command.le2M, command.coded].compactMap { $0 }
        let namesPeer = command.filterPolicy == .peerAddress
        guard command.filterPolicy.rawValue <= 1, !namesPeer || canConnect(to: command.peerAddress),
            phys.allSatisfy({ RequestedParameters($0).isValid }),
            // Those of 2M do not count.
            [command.le1M, command.coded].compactMap({ $0 }).allSatisfy({
                $0.scanWindow >= 4 && $0.scanWindow <= $0.scanInterval
            })
        else { return .invalidParameters }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        let own = ownAddress(command.ownAddressKind)
        guard hasAddress(own, towards: namesPeer ? command.peerAddress : nil) else { return .invalidParameters }
        if namesPeer, isConnected(privacy.lastingAddress(own, towards: command.peerAddress), command.peerAddress) {
            return .connectionAlreadyExists
        }
        guard links.count < configuration.maximumLinks else { return .connectionLimitExceeded }
        initiator.start(command, isExtended: true, as: own)
        return .success
    }
}

extension RequestedParameters {
    /// Those for one PHY.
    init(_ phy: PHYConnectionParameters) {
        self.init(
            intervalMin: phy.intervalMin,
            intervalMax: phy.intervalMax,
            latency: phy.maxLatency,
            timeout: phy.supervisionTimeout,
            minCELength: phy.minCELength,
            maxCELength: phy.maxCELength
        )
    }
}

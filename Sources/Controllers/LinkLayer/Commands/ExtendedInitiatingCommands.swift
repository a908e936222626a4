import BluetoothTypes
import HCI

/// LE Extended Create Connection (Core Vol 4 Part E 7.8.66).
extension CommandTable {
    mutating func addExtendedInitiatingCommands() {
        add(LEExtendedCreateConnection.self, as: .extended, needs: .extendedAdvertising) { $0.createConnection($1) }
        add(LEExtendedCreateConnectionV2.self, as: .extended, needs: .periodicResponsesAdvertiser) {
            $0.createConnection($1)
        }
    }
}

extension VirtualController {
    fileprivate func createConnection(_ command: LEExtendedCreateConnection) -> HCIStatus {
        guard !isMakingConnection else { return .commandDisallowed }
        guard command.le2M == nil || supportedPHYs.contains(.le2M),
            command.coded == nil || supportedPHYs.contains(.coded)
        else { return .unsupportedFeatureOrParameter }
        // 2M is not used on the primary channels.
        guard command.le1M != nil || command.coded != nil else { return .invalidParameters }
        let phys = [command.le1M, command.le2M, command.coded].compactMap { $0 }
        let namesPeer = command.filterPolicy == .peerAddress
        guard command.filterPolicy.rawValue <= 1, !namesPeer || canConnect(to: command.peerAddress),
            phys.allSatisfy(\.areParametersValid),
            // The scan parameters for 2M are ignored.
            [command.le1M, command.coded].compactMap({ $0 }).allSatisfy({
                $0.scanWindow >= 4 && $0.scanWindow <= $0.scanInterval
            })
        else { return .invalidParameters }
        return connect(as: command.ownAddressKind, to: namesPeer ? command.peerAddress : nil) {
            initiator.start(command, isExtended: true, as: $0)
        }
    }

    /// Whether a connection is being made, with either kind of command.
    var isMakingConnection: Bool { initiator.isEnabled || connectingTrain != nil }

    /// Stands for no advertising set and no subevent.
    private static let unused: UInt8 = 0xFF

    fileprivate func createConnection(_ command: LEExtendedCreateConnectionV2) -> HCIStatus {
        if command.set == Self.unused, command.periodicSubevent == Self.unused { return createConnection(command.v1) }
        guard !isMakingConnection else { return .commandDisallowed }
        guard advertisers[command.set] != nil else { return .unknownAdvertisingIdentifier }
        guard let train = trains[command.set], train.isRunning, let timing = train.responses?.timing else {
            return .commandDisallowed
        }
        let v1 = command.v1
        // There is no scanning here: the filter policy and the scan windows are ignored.
        let phys = [v1.le1M, v1.le2M, v1.coded].compactMap { $0 }
        guard command.periodicSubevent < timing.subevents, canConnect(to: v1.peerAddress), !phys.isEmpty,
            phys.allSatisfy(\.areParametersValid)
        else { return .invalidParameters }
        return connect(as: v1.ownAddressKind, to: v1.peerAddress) {
            train.connect(PendingConnectRequest(subevent: command.periodicSubevent, command: v1, own: $0))
        }
    }
}

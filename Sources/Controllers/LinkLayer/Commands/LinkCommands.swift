import BluetoothTypes
import HCI

/// Commands that query, configure or end links.
extension CommandTable {
    mutating func addLinkCommands() {
        add(Disconnect.self) { $0.disconnect($1) }
        add(ReadRSSI.self) { controller, command in
            guard let link = controller.link(command.handle) else {
                return .init(status: .unknownConnection, handle: command.handle, rssi: 127)
            }
            return .init(handle: command.handle, rssi: link.rssi)
        }
        add(ReadTransmitPowerLevel.self) { controller, command in
            let status = controller.check(command.handle, isValid: command.kind.rawValue <= 1)
            return .init(status: status, handle: command.handle, level: controller.configuration.transmitPower)
        }
        add(LEReadChannelMap.self) { controller, command in
            guard let link = controller.link(command.handle) else {
                return .init(status: .unknownConnection, handle: command.handle, channelMap: [])
            }
            return .init(handle: command.handle, channelMap: link.hopping.map.octets)
        }
        add(LEReadPHY.self, needs: [.phy2M, .phyCoded]) { controller, command in
            guard let link = controller.link(command.handle) else {
                return .init(status: .unknownConnection, handle: command.handle, txPHY: .none, rxPHY: .none)
            }
            return .init(handle: command.handle, txPHY: link.control.txPHY, rxPHY: link.control.rxPHY)
        }
        addDefaultCommands()
    }

    private mutating func addDefaultCommands() {
        add(LESetHostChannelClassification.self) { controller, command in
            guard let map = ChannelMap(octets: command.channelMap), map.isUsable else {
                return HCIStatus.invalidParameters
            }
            controller.classifyChannels(map)
            return .success
        }
        add(LEReadSuggestedDefaultDataLength.self, needs: .dataLengthExtension) { controller, _ in
            .init(txOctets: controller.defaults.octets, txTime: controller.defaults.time)
        }
        add(LEWriteSuggestedDefaultDataLength.self, needs: .dataLengthExtension) { controller, command in
            guard isDataLengthValid(command.txOctets, command.txTime) else { return HCIStatus.invalidParameters }
            controller.setDefault(.dataLength(command))
            return .success
        }
        add(LEReadMaximumDataLength.self, needs: .dataLengthExtension) { controller, _ in
            let length = controller.configuration.receiveLength
            return .init(
                txOctets: length.localRxOctets,
                txTime: length.localRxTime,
                rxOctets: length.localRxOctets,
                rxTime: length.localRxTime
            )
        }
        add(LESetDefaultPHY.self, needs: [.phy2M, .phyCoded]) { controller, command in
            switch controller.preferences(command.preference, command.txPHYs, command.rxPHYs) {
            case .failure(let error): return error.status
            case .success(let preferences): controller.setDefault(.phys(preferences))
            }
            return .success
        }
    }
}

/// The status of a command that cannot be carried out.
struct CommandError: Error {
    var status: HCIStatus
}

/// Whether a data length is in range (Core Vol 4 Part E 7.8.33).
func isDataLengthValid(_ octets: UInt16, _ time: UInt16) -> Bool {
    (DataLength.minimumOctets...DataLength.maximumOctets).contains(octets)
        && (DataLength.minimumTime...DataLength.maximumTimeCoded).contains(time)
}

extension VirtualController {
    /// Returns the status of a command to a link with these parameters.
    func check(_ handle: ConnectionHandle, isValid: Bool = true) -> HCIStatus {
        if link(handle) == nil { return .unknownConnection }
        return isValid ? .success : .invalidParameters
    }

    /// Returns a host's PHY preferences as sets. No preference means all supported PHYs (7.8.48, 7.8.49).
    func preferences(
        _ preference: LEPHYPreference,
        _ tx: LEPHYs,
        _ rx: LEPHYs
    ) -> Result<PHYPreferences, CommandError> {
        let wantedTx = preference.contains(.anyTransmitter) ? supportedPHYs : tx
        let wantedRx = preference.contains(.anyReceiver) ? supportedPHYs : rx
        guard !wantedTx.isEmpty, !wantedRx.isEmpty else { return .failure(.init(status: .invalidParameters)) }
        // This rejects reserved bits as well.
        guard wantedTx.isSubset(of: supportedPHYs), wantedRx.isSubset(of: supportedPHYs) else {
            return .failure(.init(status: .unsupportedFeatureOrParameter))
        }
        return .success(PHYPreferences(tx: wantedTx, rx: wantedRx))
    }

    fileprivate func disconnect(_ command: Disconnect) -> HCIStatus {
        let reasons: [HCIStatus] = [
            .authenticationFailure, .remoteUserTerminated, .remoteLowResources, .remotePowerOff,
            .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported, .unacceptableConnectionParameters,
        ]
        guard let link = link(command.handle) else { return .unknownConnection }
        guard reasons.contains(command.reason) else { return .invalidParameters }
        guard link.ending == nil else { return .commandDisallowed }
        return link.request(.terminate(command.reason)) ? .success : .controllerBusy
    }
}

import BluetoothTypes
import HCI

/// Commands that start a control procedure with the peer.
extension CommandTable {
    mutating func addProcedureCommands() {
        add(ReadRemoteVersionInformation.self) { $0.request(.version, $1.handle) }
        add(LEReadRemoteFeatures.self) { $0.readRemoteFeatures($1.handle) }
        add(LEConnectionUpdate.self) { $0.updateConnection($1) }
        add(LESetPHY.self, needs: [.phy2M, .phyCoded]) { $0.setPHY($1) }
        add(LESetDataLength.self, needs: .dataLengthExtension) { controller, command in
            let isValid = isDataLengthValid(command.txOctets, command.txTime)
            let status = controller.check(command.handle, isValid: isValid)
            guard status == .success else { return .init(status, handle: command.handle) }
            let request = LinkControl.Request.dataLength(octets: command.txOctets, time: command.txTime)
            return .init(controller.request(request, command.handle), handle: command.handle)
        }
        add(LERemoteConnectionParameterRequestReply.self, needs: .connectionParametersRequest) {
            .init($0.acceptParameters($1), handle: $1.handle)
        }
        add(LERemoteConnectionParameterRequestNegativeReply.self, needs: .connectionParametersRequest) {
            .init($0.declineParameters($1), handle: $1.handle)
        }
        add(LERequestPeerSCA.self, needs: .sleepClockAccuracyUpdates) { $0.request(.clockAccuracy, $1.handle) }
    }
}

extension VirtualController {
    fileprivate func request(_ request: LinkControl.Request, _ handle: ConnectionHandle) -> HCIStatus {
        guard let link = link(handle) else { return .unknownConnection }
        guard link.ending == nil else { return .commandDisallowed }
        return link.request(request) ? .success : .controllerBusy
    }

    fileprivate func readRemoteFeatures(_ handle: ConnectionHandle) -> HCIStatus {
        guard let link = link(handle) else { return .unknownConnection }
        guard link.isCentral || configuration.features.contains(.peripheralInitiatedFeaturesExchange) else {
            return .unsupportedFeatureOrParameter
        }
        return request(.features, handle)
    }

    fileprivate func updateConnection(_ command: LEConnectionUpdate) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard command.areParametersValid, link.control.allows(command.parameters.slowest) else {
            return .invalidParameters
        }
        guard link.isCentral || configuration.features.contains(.connectionParametersRequest) else {
            return .unsupportedFeatureOrParameter
        }
        return request(.parameters(command.parameters), command.handle)
    }

    fileprivate func setPHY(_ command: LESetPHY) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard command.codedOption.rawValue <= 2 else { return .invalidParameters }
        switch preferences(command.preference, command.txPHYs, command.rxPHYs) {
        case .failure(let error):
            return error.status
        case .success(let wanted):
            guard link.ending == nil else { return .commandDisallowed }
            let coding: RadioPHY = command.codedOption == .s2 ? .codedS2 : .codedS8
            return link.requestPHY(tx: wanted.tx, rx: wanted.rx, coding: coding) ? .success : .controllerBusy
        }
    }

    fileprivate func acceptParameters(_ command: LERemoteConnectionParameterRequestReply) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard command.areParametersValid, link.control.allows(command.parameters.slowest) else {
            return .invalidParameters
        }
        return link.acceptParameters(command.parameters) ? .success : .commandDisallowed
    }

    fileprivate func declineParameters(_ command: LERemoteConnectionParameterRequestNegativeReply) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard command.reason != .success else { return .invalidParameters }
        return link.declineParameters(command.reason) ? .success : .commandDisallowed
    }
}

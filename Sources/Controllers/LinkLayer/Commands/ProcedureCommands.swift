import BluetoothTypes
import HCI

/// Commands that start a control procedure with the peer.
extension CommandTable {
    mutating func addProcedureCommands() {
        add(ReadRemoteVersionInformation.self) { controller, command in
            controller.request(.version, command.handle)
        }
        add(LEReadRemoteFeatures.self) { controller, command in
            controller.readRemoteFeatures(command.handle)
        }
        add(LEConnectionUpdate.self) { controller, command in controller.updateConnection(command) }
        add(LESetPHY.self) { controller, command in controller.setPHY(command) }
        add(LESetDataLength.self) { controller, command in
            let isValid = isDataLengthValid(command.txOctets, command.txTime)
            let status = controller.check(command.handle, isValid: isValid)
            guard status == .success else { return .init(status, handle: command.handle) }
            let request = LinkControl.Request.dataLength(octets: command.txOctets, time: command.txTime)
            return .init(controller.request(request, command.handle), handle: command.handle)
        }
        add(LERemoteConnectionParameterRequestReply.self) { controller, command in
            .init(controller.acceptParameters(command), handle: command.handle)
        }
        add(LERemoteConnectionParameterRequestNegativeReply.self) { controller, command in
            .init(controller.declineParameters(command), handle: command.handle)
        }
        add(LERequestPeerSCA.self) { controller, command in controller.request(.clockAccuracy, command.handle) }
        require(.connectionParametersRequest, for: LERemoteConnectionParameterRequestReply.self)
        require(.connectionParametersRequest, for: LERemoteConnectionParameterRequestNegativeReply.self)
        require(.sleepClockAccuracyUpdates, for: LERequestPeerSCA.self)
        require(.dataLengthExtension, for: LESetDataLength.self)
        require([.phy2M, .phyCoded], for: LESetPHY.self)
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
        let requested = RequestedParameters(
            intervalMin: command.intervalMin,
            intervalMax: command.intervalMax,
            latency: command.maxLatency,
            timeout: command.supervisionTimeout,
            minCELength: command.minCELength,
            maxCELength: command.maxCELength
        )
        guard requested.isValid, link.control.allows(requested.parameters.slowest) else { return .invalidParameters }
        guard link.isCentral || configuration.features.contains(.connectionParametersRequest) else {
            return .unsupportedFeatureOrParameter
        }
        return request(.parameters(requested.parameters), command.handle)
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
        let requested = RequestedParameters(
            intervalMin: command.intervalMin,
            intervalMax: command.intervalMax,
            latency: command.maxLatency,
            timeout: command.supervisionTimeout,
            minCELength: command.minCELength,
            maxCELength: command.maxCELength
        )
        guard requested.isValid, link.control.allows(requested.parameters.slowest) else { return .invalidParameters }
        return link.acceptParameters(requested.parameters) ? .success : .commandDisallowed
    }

    fileprivate func declineParameters(_ command: LERemoteConnectionParameterRequestNegativeReply) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard command.reason != .success else { return .invalidParameters }
        return link.declineParameters(command.reason) ? .success : .commandDisallowed
    }
}

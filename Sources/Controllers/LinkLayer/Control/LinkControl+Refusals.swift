import HCI

/// Rejections: of the peer's PDUs, and of this device's procedures by the peer.
extension LinkControl {
    /// Responds to a PDU that is unknown, not supported by this device or in its role, or of the wrong length.
    ///
    /// For the first two, LL_UNKNOWN_RSP is required. For a wrong length 2.4.2 allows interpreting the PDU all the
    /// same; devices that do not, respond with LL_UNKNOWN_RSP.
    mutating func receiveUnknown(_ opcode: ControlOpcode, length: Int) {
        // Responding to a response would never end.
        if opcode == .unknownRsp { return }
        // A peripheral without encryption rejects LL_ENC_REQ (5.1.3.1), whose length is 23.
        if opcode == .encReq, !isCentral, length == 23 { return refuse(opcode, .unsupportedRemoteFeature) }
        send(.unknown(.init(opcode)))
    }

    /// Whether this device accepts a PDU, given its features and its role (2.4.2, 4.6).
    func knows(_ pdu: ControlPDU) -> Bool {
        let features = setup.features
        switch pdu {
        case .featureRequest, .connectionUpdate, .channelMap, .phyUpdate: return !isCentral
        case .peripheralFeatureRequest:
            return isCentral && features.contains(.peripheralInitiatedFeaturesExchange)
        case .minimumUsedChannels(let body):
            return isCentral && features.contains(.minimumUsedChannels) && (2...37).contains(body.channels)
        case .connectionParameterRequest: return features.contains(.connectionParametersRequest)
        case .connectionParameterResponse: return isCentral && features.contains(.connectionParametersRequest)
        case .pingRequest: return features.contains(.ping)
        case .encryptionRequest, .pauseEncryptionRequest: return !isCentral && features.contains(.encryption)
        case .encryptionResponse, .startEncryptionRequest: return isCentral && features.contains(.encryption)
        case .startEncryptionResponse, .pauseEncryptionResponse: return features.contains(.encryption)
        case .lengthRequest: return features.contains(.dataLengthExtension)
        case .phyRequest: return !features.isDisjoint(with: [.phy2M, .phyCoded])
        case .clockAccuracyRequest(let body), .clockAccuracyResponse(let body):
            return features.contains(.sleepClockAccuracyUpdates) && body.accuracy <= 7
        case .subrateRequest: return isCentral && features.contains(.connectionSubrating)
        case .subrateIndication: return !isCentral && features.contains(.connectionSubrating)
        case .periodicSync(let body):
            return features.contains(.periodicSyncTransferRecipient)
                && (body.responses == nil || features.contains(.periodicResponsesScanner))
        case .soundingSecurityRequest: return !isCentral && hasSounding
        case .soundingCapabilitiesRequest, .soundingConfigurationRequest, .soundingErrorTableRequest, .soundingRequest,
            .soundingTerminateRequest:
            return hasSounding
        default: return true
        }
    }

    /// Whether this device's controller and host support Channel Sounding.
    private var hasSounding: Bool { setup.features.isSuperset(of: [.channelSounding, .channelSoundingHost]) }

    /// Rejects a PDU of the peer, in a form that both devices support (2.4.2.18).
    mutating func refuse(_ opcode: ControlOpcode, _ error: HCIStatus) {
        let isExtended = setup.features.contains(.extendedReject) && remoteFeatures?.contains(.extendedReject) ?? true
        send(isExtended ? .rejectExtended(.init(opcode, error)) : .reject(.init(error)))
    }

    /// Handles the peer's rejection of a procedure that this device has started.
    mutating func receiveRefusal(of opcode: ControlOpcode?, _ error: HCIStatus) {
        switch (local, opcode) {
        case (.features?, .featureReq?), (.features?, .peripheralFeatureReq?), (.features?, nil):
            procedures.end()
            report(.features(error, []))
        case (.length?, .lengthReq?), (.length?, nil), (.ping?, .pingReq?), (.ping?, nil):
            procedures.end()
        case (.version?, .versionInd?):
            procedures.end()
            report(.version(error, .init()))
        case (.clockAccuracy?, .clockAccuracyReq?), (.clockAccuracy?, nil):
            procedures.end()
            report(.clockAccuracy(error, .init(code: 0)))
        case (.sounding(let procedure)?, let rejected) where rejected == nil || rejected == procedure.opcode:
            procedures.end()
            reportSounding(procedure, failure: error)
        case (.subrateAwaitingIndication?, .subrateReq?), (.subrateAwaitingIndication?, nil):
            procedures.end()
            report(.subrate(error, subrate))
        case (.parametersAwaitingResponse(let wanted)?, .connectionParamReq?),
            (.parametersAwaitingResponse(let wanted)?, nil):
            procedures.end()
            receiveParameterRefusal(error, wanted: wanted)
        case (.phyAwaitingResponse?, .phyReq?), (.phyAwaitingIndication?, .phyReq?),
            (.phyAwaitingResponse?, nil), (.phyAwaitingIndication?, nil):
            procedures.end()
            report(.phy(error))
        case (.parametersAwaitingIndication?, .connectionParamReq?), (.parametersAwaitingIndication?, nil):
            procedures.end()
            report(.parameters(error))
        default:
            if opcode == .connectionParamRsp { procedures.leave(.parametersAwaitingIndication) }
            if opcode == .soundingRsp { procedures.leave(.soundingAwaitingIndication) }
            if opcode == .phyRsp { procedures.leave(.phyAwaitingIndication) }
        }
    }
}

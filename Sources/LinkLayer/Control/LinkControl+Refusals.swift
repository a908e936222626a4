import HCI

/// What is not taken: PDUs of the peer that this device refuses, and procedures of this device that the peer does.
extension LinkControl {
    /// Answers a PDU that is not known, that a device without the feature or in this role does not take, or whose length
    /// is wrong. For the first two LL_UNKNOWN_RSP is prescribed. For the last one 2.4.2 leaves the choice to make
    /// something of it all the same; whoever does not, answers with LL_UNKNOWN_RSP.
    mutating func takeUnknown(_ opcode: ControlOpcode, length: Int) {
        // The answer to an answer would never end.
        if opcode == .unknownRsp { return }
        // A peripheral without encryption refuses LL_ENC_REQ (5.1.3.1); its length is 23.
        if opcode == .encReq, !isCentral, length == 23 { return refuse(opcode, .unsupportedRemoteFeature) }
        send(.unknown(.init(opcode)))
    }

    /// Whether this device takes such a PDU: it has the feature, and is in the role (2.4.2, 4.6).
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
        default: return true
        }
    }

    /// Refuses a PDU of the peer, in the way that both understand (2.4.2.18).
    mutating func refuse(_ opcode: ControlOpcode, _ error: HCIStatus) {
        let isExtended = setup.features.contains(.extendedReject) && remoteFeatures?.contains(.extendedReject) ?? true
        send(isExtended ? .rejectExtended(.init(opcode, error)) : .reject(.init(error)))
    }

    /// The peer refuses what this device has begun.
    mutating func takeRefusal(of opcode: ControlOpcode?, _ error: HCIStatus) {
        switch (local, opcode) {
        case (.features?, .featureReq?), (.features?, .peripheralFeatureReq?), (.features?, nil):
            local = nil
            report(.features(error, []))
        case (.length?, .lengthReq?), (.length?, nil), (.ping?, .pingReq?), (.ping?, nil):
            local = nil
        case (.version?, .versionInd?):
            local = nil
            report(.version(error, .init()))
        case (.clockAccuracy?, .clockAccuracyReq?), (.clockAccuracy?, nil):
            local = nil
            report(.clockAccuracy(error, .init(code: 0)))
        case (.subrateAwaitingIndication?, .subrateReq?), (.subrateAwaitingIndication?, nil):
            local = nil
            report(.subrate(error, subrate))
        case (.parametersAwaitingResponse(let wanted)?, .connectionParamReq?),
            (.parametersAwaitingResponse(let wanted)?, nil):
            local = nil
            takeParameterRefusal(error, wanted: wanted)
        case (.phyAwaitingResponse?, .phyReq?), (.phyAwaitingIndication?, .phyReq?),
            (.phyAwaitingResponse?, nil), (.phyAwaitingIndication?, nil):
            local = nil
            report(.phy(error))
        case (.parametersAwaitingIndication?, .connectionParamReq?), (.parametersAwaitingIndication?, nil):
            local = nil
            report(.parameters(error))
        default:
            if opcode == .connectionParamRsp, remote == .parametersAwaitingIndication { remote = nil }
            if opcode == .phyRsp, remote == .phyAwaitingIndication { remote = nil }
        }
    }
}

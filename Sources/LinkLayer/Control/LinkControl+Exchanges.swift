import HCI

/// The procedures that consist of a single exchange: version, features, clock accuracy and data length.
extension LinkControl {
    // MARK: Version exchange (Core Vol 6 Part B 5.1.5)

    mutating func startVersion() {
        if let remoteVersion {
            report(.version(.success, remoteVersion))
            return
        }
        // The version is sent only once; a peer that has rejected it is not asked again.
        guard !versionSent else { return report(.version(.unsupportedRemoteFeature, .init())) }
        local = .version
        sendVersion()
    }

    /// Each device sends its version only once.
    mutating func takeVersion(_ pdu: VersionIndication) {
        guard remoteVersion == nil else { return }
        remoteVersion = pdu
        if !versionSent { sendVersion() }
        guard local == .version else { return }
        local = nil
        report(.version(.success, pdu))
    }

    private mutating func sendVersion() {
        versionSent = true
        send(.version(setup.version))
    }

    // MARK: Feature exchange (5.1.4)

    mutating func startFeatures() {
        if let remoteFeatures {
            report(.features(.success, remoteFeatures))
            return
        }
        local = .features
        let pdu = FeatureExchange(setup.features)
        send(isCentral ? .featureRequest(pdu) : .peripheralFeatureRequest(pdu))
    }

    mutating func takeFeatureRequest(_ pdu: FeatureExchange) {
        remoteFeatures = pdu.features
        // The first octet contains the features common to both devices, the others those of the sender.
        let common = setup.features.rawValue & (pdu.features.rawValue | ~0xFF)
        send(.featureResponse(.init(LEFeatures(rawValue: common))))
    }

    mutating func takeFeatureResponse(_ pdu: FeatureExchange) {
        guard local == .features else { return }
        local = nil
        remoteFeatures = pdu.features
        report(.features(.success, pdu.features))
    }

    // MARK: Sleep clock accuracy update (5.1.14)

    mutating func startClockAccuracy() {
        if let remoteFeatures, !remoteFeatures.contains(.sleepClockAccuracyUpdates) {
            report(.clockAccuracy(.unsupportedRemoteFeature, .init(code: 0)))
            return
        }
        local = .clockAccuracy
        send(.clockAccuracyRequest(.init(setup.accuracy.code)))
    }

    mutating func takeClockAccuracy(_ pdu: ClockAccuracyExchange, isRequest: Bool) {
        guard isRequest || local == .clockAccuracy else { return }
        let accuracy = ClockAccuracy(code: pdu.accuracy)
        actions.append(.applyPeerAccuracy(accuracy))
        if isRequest {
            send(.clockAccuracyResponse(.init(setup.accuracy.code)))
        } else {
            local = nil
            report(.clockAccuracy(.success, accuracy))
        }
    }

    // MARK: Data length update (5.1.9)

    mutating func startLength(_ octets: UInt16, _ time: UInt16) {
        let before = dataLength
        dataLength.localTxOctets = octets
        dataLength.localTxTime = time
        if let remoteFeatures, !remoteFeatures.contains(.dataLengthExtension) { return }
        // The peer has these values already, from an earlier request or response of the controller.
        guard toldLength != dataLength.exchange else { return }
        local = .length
        toldLength = dataLength.exchange
        send(.lengthRequest(dataLength.exchange))
        reportLength(ifNot: before)
    }

    mutating func takeLength(_ pdu: LengthExchange, isRequest: Bool) {
        if !isRequest, local != .length { return }
        let before = dataLength
        dataLength.take(pdu)
        if isRequest {
            toldLength = dataLength.exchange
            send(.lengthResponse(dataLength.exchange))
        } else {
            local = nil
        }
        reportLength(ifNot: before)
    }

    /// Reports the data length to the host if the effective values have changed.
    private mutating func reportLength(ifNot before: DataLength) {
        let (tx, rx) = (phy(txPHY), phy(rxPHY))
        let isSame =
            before.txOctets == dataLength.txOctets && before.rxOctets == dataLength.rxOctets
            && before.txTime(tx) == dataLength.txTime(tx) && before.rxTime(rx) == dataLength.rxTime(rx)
        if !isSame { report(.dataLength) }
    }
}

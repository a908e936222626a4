import HCI

/// The procedures that consist of a single exchange: version, features, clock accuracy and data length.
extension LinkControl {
    // MARK: Version exchange (Core Vol 6 Part B 5.1.5)

    mutating func startVersion() {
        if let version = peer.version {
            report(.version(.success, version))
            return
        }
        // The version is sent only once; a peer that has rejected it is not asked again.
        guard !peer.isTold else { return report(.version(.unsupportedRemoteFeature, .init())) }
        procedures.start(.version)
        sendVersion()
    }

    /// Each device sends its version only once.
    mutating func takeVersion(_ pdu: VersionIndication) {
        guard peer.version == nil else { return }
        peer.learn(pdu)
        if !peer.isTold { sendVersion() }
        if procedures.end(.version) { report(.version(.success, pdu)) }
    }

    private mutating func sendVersion() {
        peer.tell()
        send(.version(setup.version))
    }

    // MARK: Feature exchange (5.1.4)

    mutating func startFeatures() {
        if let remoteFeatures {
            report(.features(.success, remoteFeatures))
            return
        }
        procedures.start(.features)
        let pdu = FeatureExchange(setup.features)
        send(isCentral ? .featureRequest(pdu) : .peripheralFeatureRequest(pdu))
    }

    mutating func takeFeatureRequest(_ pdu: FeatureExchange) {
        peer.learn(pdu.features)
        // The first octet contains the features common to both devices, the others those of the sender.
        let common = setup.features.rawValue & (pdu.features.rawValue | ~0xFF)
        send(.featureResponse(.init(LEFeatures(rawValue: common))))
    }

    mutating func takeFeatureResponse(_ pdu: FeatureExchange) {
        guard procedures.end(.features) else { return }
        peer.learn(pdu.features)
        report(.features(.success, pdu.features))
    }

    // MARK: Sleep clock accuracy update (5.1.14)

    mutating func startClockAccuracy() {
        if let remoteFeatures, !remoteFeatures.contains(.sleepClockAccuracyUpdates) {
            report(.clockAccuracy(.unsupportedRemoteFeature, .init(code: 0)))
            return
        }
        procedures.start(.clockAccuracy)
        send(.clockAccuracyRequest(.init(setup.accuracy.code)))
    }

    mutating func takeClockAccuracy(_ pdu: ClockAccuracyExchange, isRequest: Bool) {
        guard isRequest || local == .clockAccuracy else { return }
        let accuracy = ClockAccuracy(code: pdu.accuracy)
        actions.append(.applyPeerAccuracy(accuracy))
        if isRequest {
            send(.clockAccuracyResponse(.init(setup.accuracy.code)))
        } else {
            procedures.end()
            report(.clockAccuracy(.success, accuracy))
        }
    }

    // MARK: Data length update (5.1.9)

    mutating func startLength(_ octets: UInt16, _ time: UInt16) {
        let before = dataLength
        dataLength.allowTransmission(octets: octets, time: time)
        if let remoteFeatures, !remoteFeatures.contains(.dataLengthExtension) { return }
        // The peer has these values already, from an earlier request or response of the controller.
        guard !dataLength.isTold else { return }
        procedures.start(.length)
        send(.lengthRequest(dataLength.tell()))
        reportLength(ifNot: before)
    }

    mutating func takeLength(_ pdu: LengthExchange, isRequest: Bool) {
        if !isRequest, local != .length { return }
        let before = dataLength
        dataLength.take(pdu)
        if isRequest {
            send(.lengthResponse(dataLength.tell()))
        } else {
            procedures.end()
        }
        reportLength(ifNot: before)
    }

    /// Reports the data length to the host if the effective values have changed.
    private mutating func reportLength(ifNot before: DataLength) {
        let (tx, rx) = (txPHY.radioPHY, rxPHY.radioPHY)
        let isSame =
            before.txOctets == dataLength.txOctets && before.rxOctets == dataLength.rxOctets
            && before.txTime(tx) == dataLength.txTime(tx) && before.rxTime(rx) == dataLength.rxTime(rx)
        if !isSame { report(.dataLength) }
    }
}

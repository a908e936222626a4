import HCI

/// Connection Subrate Update and Connection Subrate Request (Core Vol 6 Part B 5.1.19, 5.1.20).
extension LinkControl {
    /// Starts a change of the subrating. The central announces it; the peripheral requests it.
    mutating func startSubrate(_ wanted: SubrateRequest) {
        guard peerHasSubrating else { return report(.subrate(.unsupportedRemoteFeature, subrate)) }
        guard isCentral else {
            local = .subrateAwaitingIndication
            return send(.subrateRequest(wanted))
        }
        acceptableSubrate = wanted
        var pdu = SubrateIndication()
        pdu.factor = wanted.factorMax
        pdu.latency = wanted.maxLatency
        pdu.continuation = min(wanted.continuation, wanted.factorMax - 1)
        pdu.timeout = wanted.timeout
        announce(pdu)
        local = .subrateAwaitingAcknowledgement
    }

    /// Whether the peer supports subrating and its host has enabled it.
    var peerHasSubrating: Bool { remoteFeatures?.contains(.connectionSubratingHost) ?? false }

    private mutating func announce(_ pdu: SubrateIndication) {
        var pdu = pdu
        // A nearby event: the peripheral resolves the counter's wraparound from the two highest bits.
        pdu.base = counter
        announcedSubrate = pdu
        send(.subrateIndication(pdu))
        actions.append(.announceSubrate(pdu))
    }

    mutating func takeSubrateRequest(_ pdu: SubrateRequest) {
        guard setup.features.contains(.connectionSubratingHost) else {
            return refuse(.subrateReq, .unsupportedRemoteFeature)
        }
        guard pdu.isValid else { return refuse(.subrateReq, .invalidLinkLayerParameters) }
        // Procedures that change the link exclude each other (5.3), and the peripheral may not know of a pending
        // change.
        guard remote == nil, pending == nil, !isChanging else {
            return refuse(.subrateReq, .differentTransactionCollision)
        }
        guard let agreed = agreement(on: pdu) else { return refuse(.subrateReq, .invalidLinkLayerParameters) }
        announce(agreed)
        remote = .subrateAwaitingAcknowledgement
    }

    /// Whether a procedure of this device is in progress that changes the link.
    private var isChanging: Bool {
        switch local {
        case nil, .version?, .features?, .length?, .clockAccuracy?, .ping?: false
        default: true
        }
    }

    /// Returns parameters within the limits of both devices; nil if there are none. The factor is the largest with
    /// which the supervision timeout allows for two attempts at an event.
    private func agreement(on asked: SubrateRequest) -> SubrateIndication? {
        let own = acceptableSubrate
        guard asked.maxLatency <= own.maxLatency, asked.timeout <= own.timeout else { return nil }
        let events = Int64(asked.maxLatency) + 1
        let longest = (Int64(asked.timeout) * 10_000 - 1) / (2 * timing.intervalMicroseconds * events)
        let bounds = [
            Int64(asked.factorMax), Int64(own.factorMax), longest, Int64(SubrateRequest.maximumFactor) / events,
        ]
        guard let factor = bounds.min(), factor >= Int64(max(asked.factorMin, own.factorMin)) else { return nil }
        var pdu = SubrateIndication()
        pdu.factor = UInt16(factor)
        pdu.latency = asked.maxLatency
        pdu.continuation = min(max(asked.continuation, own.continuation), pdu.factor - 1)
        pdu.timeout = asked.timeout
        return pdu
    }

    /// Applies the central's decision (5.1.19). AB-L04: invalid parameters end the link.
    mutating func takeSubrateIndication(_ pdu: SubrateIndication) {
        guard isPossible(pdu) else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        let isOwn = local == .subrateAwaitingIndication
        if isOwn { local = nil }
        apply(pdu, isOwn: isOwn)
    }

    private func isPossible(_ pdu: SubrateIndication) -> Bool {
        let events = Int64(pdu.factor) * (Int64(pdu.latency) + 1)
        return (1...Int64(SubrateRequest.maximumFactor)).contains(events) && pdu.factor >= 1
            && pdu.continuation < pdu.factor
            && (10...3_200).contains(pdu.timeout)
            && Int64(pdu.timeout) * 10_000 > 2 * timing.intervalMicroseconds * events
    }

    /// Applies the announced subrating, which the peripheral has acknowledged.
    mutating func subrateAcknowledged() -> [Action] {
        guard let pdu = announcedSubrate else { return [] }
        announcedSubrate = nil
        let isOwn = local == .subrateAwaitingAcknowledgement
        if isOwn { local = nil }
        if remote == .subrateAwaitingAcknowledgement { remote = nil }
        apply(pdu, isOwn: isOwn)
        startNext()
        return flush()
    }

    private mutating func apply(_ pdu: SubrateIndication, isOwn: Bool) {
        var known = pdu
        known.base = subrate.base
        let isSame = known == subrate && timing.latency == pdu.latency && timing.timeout == pdu.timeout
        subrate = known
        (timing.latency, timing.timeout) = (pdu.latency, pdu.timeout)
        actions.append(.applySubrate(pdu))
        if isOwn || !isSame { report(.subrate(.success, known)) }
    }

    /// Ends subrating. A change of the interval makes every event a used one (5.1.1).
    mutating func endSubrating() {
        (subrate.factor, subrate.continuation) = (1, 0)
    }
}

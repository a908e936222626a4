import HCI

/// Connection Subrate Update and Connection Subrate Request (Core Vol 6 Part B 5.1.19, 5.1.20).
extension LinkControl {
    /// Starts a change of the subrating. The central announces it; the peripheral requests it.
    mutating func startSubrate(_ wanted: SubrateRequest) {
        guard peerHasSubrating else { return report(.subrate(.unsupportedRemoteFeature, subrate)) }
        guard isCentral else {
            procedures.start(.subrateAwaitingIndication)
            return send(.subrateRequest(wanted))
        }
        subrating.accept(wanted)
        var pdu = SubrateIndication()
        pdu.factor = wanted.factorMax
        pdu.latency = wanted.maxLatency
        pdu.continuation = min(wanted.continuation, wanted.factorMax - 1)
        pdu.timeout = wanted.timeout
        announce(pdu)
        procedures.start(.subrateAwaitingAcknowledgement)
    }

    /// Whether the peer supports subrating and its host has enabled it.
    var peerHasSubrating: Bool { remoteFeatures?.contains(.connectionSubratingHost) ?? false }

    private mutating func announce(_ pdu: SubrateIndication) {
        var pdu = pdu
        // A nearby event: the peripheral resolves the counter's wraparound from the two highest bits.
        pdu.base = counter
        subrating.announce(pdu)
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
        guard let agreed = subrating.agreement(on: pdu, timing) else {
            return refuse(.subrateReq, .invalidLinkLayerParameters)
        }
        announce(agreed)
        procedures.join(.subrateAwaitingAcknowledgement)
    }

    /// Whether a procedure of this device is in progress that changes the link.
    private var isChanging: Bool {
        switch local {
        case nil, .version?, .features?, .length?, .clockAccuracy?, .ping?: false
        default: true
        }
    }

    /// Applies the central's decision (5.1.19). AB-L04: invalid parameters end the link.
    mutating func takeSubrateIndication(_ pdu: SubrateIndication) {
        guard pdu.isPossible(with: timing) else {
            actions.append(.end(.invalidLinkLayerParameters))
            return
        }
        apply(pdu, isOwn: procedures.end(.subrateAwaitingIndication))
    }

    /// Applies the announced subrating, which the peripheral has acknowledged.
    mutating func subrateAcknowledged() -> [Action] {
        guard let pdu = subrating.acknowledge() else { return [] }
        let isOwn = procedures.end(.subrateAwaitingAcknowledgement)
        procedures.leave(.subrateAwaitingAcknowledgement)
        apply(pdu, isOwn: isOwn)
        startNext()
        return flush()
    }

    private mutating func apply(_ pdu: SubrateIndication, isOwn: Bool) {
        var known = pdu
        known.base = subrate.base
        let isSame = known == subrate && timing.latency == pdu.latency && timing.timeout == pdu.timeout
        subrating.adopt(known)
        (timing.latency, timing.timeout) = (pdu.latency, pdu.timeout)
        actions.append(.applySubrate(pdu))
        if isOwn || !isSame { report(.subrate(.success, known)) }
    }
}

/// The subrating of a link, as its two devices negotiate it.
struct SubrateNegotiation {
    /// The current subrating. Its base event is not used here.
    private(set) var current = SubrateIndication()
    /// The subrating that the peripheral has yet to acknowledge.
    private var announced: SubrateIndication?
    /// The parameters that a central accepts from the peripheral.
    private(set) var acceptable: SubrateRequest

    init(acceptable: SubrateRequest) {
        self.acceptable = acceptable
    }

    /// Accepts these parameters from now on: the central's last request is what it accepts from the peripheral (Core
    /// Vol 6 Part B 5.1.20).
    mutating func accept(_ range: SubrateRequest) {
        acceptable = range
    }

    mutating func announce(_ subrate: SubrateIndication) {
        announced = subrate
    }

    /// Removes and returns the announced subrating, which the peripheral has acknowledged.
    mutating func acknowledge() -> SubrateIndication? {
        defer { announced = nil }
        return announced
    }

    mutating func adopt(_ subrate: SubrateIndication) {
        current = subrate
    }

    /// Ends subrating. A change of the interval makes every event a used one (5.1.1).
    mutating func end() {
        (current.factor, current.continuation) = (1, 0)
    }

    /// Returns parameters within the limits of both devices; nil if there are none. The factor is the largest with
    /// which the supervision timeout allows for two attempts at an event.
    func agreement(on asked: SubrateRequest, _ timing: LinkTiming) -> SubrateIndication? {
        let own = acceptable
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
}

extension SubrateIndication {
    /// Whether the subrating is valid on a link with this timing.
    fileprivate func isPossible(with timing: LinkTiming) -> Bool {
        let events = Int64(factor) * (Int64(latency) + 1)
        return (1...Int64(SubrateRequest.maximumFactor)).contains(events) && factor >= 1
            && continuation < factor
            && (10...3_200).contains(timeout)
            && Int64(timeout) * 10_000 > 2 * timing.intervalMicroseconds * events
    }
}

import HCI

/// The subrating of a link, as its two devices negotiate it.
struct SubrateNegotiation {
    /// The current subrating. Its base event is not used here.
    var current = SubrateIndication()
    /// The subrating that the peripheral has yet to acknowledge.
    var announced: SubrateIndication?
    /// The parameters that a central accepts from the peripheral: those of its own last request, if it has made one (Core
    /// Vol 6 Part B 5.1.20).
    var acceptable: SubrateRequest

    /// Removes and returns the announced subrating, which the peripheral has acknowledged.
    mutating func acknowledge() -> SubrateIndication? {
        defer { announced = nil }
        return announced
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
    func isPossible(with timing: LinkTiming) -> Bool {
        continuation < factor
            && LinkTiming(interval: timing.interval, latency: latency, timeout: timeout).isValid(factor: factor)
    }
}

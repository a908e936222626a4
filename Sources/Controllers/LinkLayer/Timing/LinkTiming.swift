import EventLoops

/// The interval, latency and supervision timeout of a link, in the units of the specification.
struct LinkTiming: Hashable {
    /// The connection interval, in units of 1.25 ms.
    var interval: UInt16
    /// The peripheral latency: the number of events that the peripheral may skip.
    var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16

    /// T_IFS: the time from the end of one PDU to the start of the next, in microseconds (Core Vol 6 Part B 4.1.1).
    static let interFrameSpace: Int64 = 150
    /// The maximum of the subrate factor times the latency plus 1 (4.5.1).
    static let maximumEvents: Int64 = 500
    /// The unit of intervals, windows and offsets, in microseconds.
    static let unit: Int64 = 1_250

    var intervalMicroseconds: Int64 { Int64(interval) * Self.unit }
    var intervalDuration: Duration { .microseconds(intervalMicroseconds) }
    var timeoutDuration: Duration { .microseconds(timeoutMicroseconds) }
    var timeoutMicroseconds: Int64 { Int64(timeout) * 10_000 }

    /// Whether the values are in range, and the timeout allows for at least two attempts at an event (4.5.1, 4.5.2;
    /// AB-L03).
    var isValid: Bool { isValid(factor: 1) }

    /// Whether the values are valid on a link that uses every `factor`-th event.
    func isValid(factor: UInt16) -> Bool {
        let events = Int64(factor) * (Int64(latency) + 1)
        return (6...3_200).contains(interval) && (10...3_200).contains(timeout)
            && (1...Self.maximumEvents).contains(events)
            && timeoutMicroseconds > events * intervalMicroseconds * 2
    }
}

/// The accuracy of a sleep clock, as the code of the SCA field (Core Vol 6 Part B 2.3.3.1).
struct ClockAccuracy: Hashable {
    /// The code, 0 for 500 ppm to 7 for 20 ppm.
    var code: UInt8

    /// The worst-case deviation in parts per million.
    var partsPerMillion: Int64 {
        let worst: [Int64] = [500, 250, 150, 100, 75, 50, 30, 20]
        return worst[Int(code & 0b111)]
    }

    /// Returns how far two clocks may have drifted apart since they were last synchronized, in microseconds, including
    /// 16 for the jitter of both (4.2.2, 4.2.4).
    static func widening(_ a: ClockAccuracy, _ b: ClockAccuracy, since elapsed: Duration) -> Int64 {
        let product = elapsed.microseconds.multipliedReportingOverflow(by: a.partsPerMillion + b.partsPerMillion)
        return (product.overflow ? .max : product.partialValue / 1_000_000 + 1) &+ 16
    }
}

extension Duration {
    /// Returns how long this duration takes by a clock that runs slow by a number of parts per million.
    func drifting(_ partsPerMillion: Double) -> Duration {
        if partsPerMillion == 0 { return self }
        return self + .nanoseconds(Int64((Double(nanoseconds) * partsPerMillion / 1_000_000).rounded()))
    }
}

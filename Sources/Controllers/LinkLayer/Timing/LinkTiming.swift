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

    /// The interval in microseconds.
    var intervalMicroseconds: Int64 { Int64(interval) * Self.unit }
    var intervalDuration: Duration { .microseconds(intervalMicroseconds) }
    var timeoutDuration: Duration { .microseconds(timeoutMicroseconds) }
    /// The supervision timeout in microseconds.
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

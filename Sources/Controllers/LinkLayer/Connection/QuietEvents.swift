import EventLoops

/// A run of connection events in which both ends have nothing but an empty PDU to send, and nothing else happens on the
/// loop or the air. Both ends pass it at once, into the state that the events one by one would leave (Core Vol 6 Part B
/// 4.5.1).
struct QuietEvents {
    /// The number of events, at least one.
    let count: Int
    /// The anchor point of the last event.
    let last: Instant
    /// The time from the begin of the peripheral's listening to an anchor point, in microseconds.
    let wait: Int64
    /// When the PDUs of the last event have ended.
    let centralEnd, peripheralEnd: Instant

    /// Returns the events from the peripheral's next one on that end before an instant; nil if there are none.
    ///
    /// - Parameters:
    ///   - start: When the peripheral starts to listen for the first event.
    ///   - needed: The time from an anchor point for which the radio must be free, in microseconds.
    ///   - exchange: The frames as the central sends and receives them.
    init?(
        _ central: AnchorPoints,
        _ peripheral: AnchorPoints,
        _ timing: LinkTiming,
        _ exchange: QuietExchange,
        from start: Instant,
        needed: Int64,
        before end: Instant
    ) {
        let first = central.anchor
        guard peripheral.isInStep(with: central, timing), start <= first, first <= peripheral.end(timing) else {
            return nil
        }
        let room = end.nanoseconds(since: first.advanced(byMicroseconds: needed)) - 1
        guard room >= 0 else { return nil }
        let interval = central.interval(timing)
        count = Int(room / interval.nanoseconds) + 1
        last = first + interval * (count - 1)
        wait = first.microseconds(since: start)
        centralEnd = last.advanced(byMicroseconds: exchange.sendingTime)
        let answer = LinkTiming.interFrameSpace + exchange.receivingTime
        peripheralEnd = centralEnd.advanced(byMicroseconds: answer)
    }
}

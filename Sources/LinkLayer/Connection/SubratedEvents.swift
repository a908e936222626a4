/// The used events of a link (Core Vol 6 Part B 4.5.1): every `factor`-th one, counted from `base`.
///
/// Events are numbered without wrapping here, so that the sequence continues where the counter on the air wraps to 0.
struct SubratedEvents: Hashable {
    /// connSubrateFactor, from 1 to 500.
    var factor = 1
    /// The number of one of the used events.
    var base = 0
    /// connContinuationNumber: how many events stay in use after one with data.
    var continuation = 0

    /// Creates the subrating that uses every event.
    init() {}

    /// Creates the subrating of an LL_SUBRATE_IND sent or received in event `event`. Its base event is near: less than
    /// half of the counter range away, on either side of the wraparound (5.1.19).
    init(_ pdu: SubrateIndication, near event: Int) {
        factor = max(Int(pdu.factor), 1)
        continuation = Int(pdu.continuation)
        let distance = Int16(bitPattern: pdu.base &- UInt16(truncatingIfNeeded: event))
        base = event + Int(distance)
    }

    /// Whether every event is used.
    var isTrivial: Bool { factor == 1 }

    /// Returns the distance from an event to the next used one.
    func distance(after event: Int) -> Int {
        let phase = (event - base) % factor
        return factor - (phase < 0 ? phase + factor : phase)
    }

    /// Returns the distance from an event back to the last used one; 0 if it is used itself.
    func distance(before event: Int) -> Int {
        factor - distance(after: event)
    }
}

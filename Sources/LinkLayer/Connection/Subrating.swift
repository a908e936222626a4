/// Which events of a link are used (Core Vol 6 Part B 4.5.1): each so many-th, counted from one of them.
///
/// Events are counted without an end here, so that nothing happens to the sequence where the counter on the air begins
/// again at 0.
struct Subrating: Hashable {
    /// The largest factor, and the largest product of factor and latency (4.5.1).
    static let maximumFactor: UInt16 = 500

    /// connSubrateFactor.
    var factor = 1
    /// One of the events that are used.
    var base = 0
    /// connContinuationNumber.
    var continuation = 0

    /// Every event.
    init() {}

    /// What an LL_SUBRATE_IND says that was sent or came in an event. Its base lies near: less than half of all counters away,
    /// on either side of where they begin again (5.1.19).
    init(_ pdu: SubrateIndication, near event: Int) {
        factor = max(Int(pdu.factor), 1)
        continuation = Int(pdu.continuation)
        let distance = Int16(bitPattern: pdu.base &- UInt16(truncatingIfNeeded: event))
        base = event + Int(distance)
    }

    /// Whether every event is used.
    var isTrivial: Bool { factor == 1 }

    /// From an event to the next one that is used.
    func distance(after event: Int) -> Int {
        let phase = (event - base) % factor
        return factor - (phase < 0 ? phase + factor : phase)
    }

    /// From an event back to the last one that is used, or is this one.
    func distance(before event: Int) -> Int {
        factor - distance(after: event)
    }
}

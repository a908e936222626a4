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

/// The subrating of a link: which of its events are used (Core Vol 6 Part B 4.5.1, 5.1.19).
struct LinkSubrating {
    private(set) var current = SubratedEvents()
    /// As central: the subrating that the peripheral has yet to acknowledge. Until then the events of both are used.
    private var next: SubratedEvents?
    /// The number of continuation events still to use after an event with data.
    private var continuing = 0
    /// Whether this event has data.
    private var hasTraffic = false

    /// Whether every event is used.
    var isTrivial: Bool { current.isTrivial && next == nil }

    /// Uses the events of an announced subrating in addition to the current ones.
    mutating func announce(_ pdu: SubrateIndication, near event: Int) {
        next = SubratedEvents(pdu, near: event)
    }

    /// Uses only the events of a subrating from now on: the announced one, or that of a PDU received in `event`.
    mutating func apply(_ pdu: SubrateIndication, near event: Int) {
        current = next ?? SubratedEvents(pdu, near: event)
        next = nil
    }

    /// Uses every event again, as after a change of the connection interval (5.1.1).
    mutating func end() {
        (current, continuing) = (SubratedEvents(), 0)
    }

    /// Records data in the event in progress.
    mutating func noteTraffic() {
        hasTraffic = true
    }

    /// Returns the number of unused events between `event` and the next used one, where `skipped` of the used events
    /// are skipped.
    ///
    /// An event with data is followed by continuation events (4.5.1). The instant of a change, `instant` events ahead,
    /// and the event before it are always used (5.1.1).
    mutating func unused(after event: Int, skipping skipped: Int, instant: Int?) -> Int {
        if hasTraffic { continuing = current.continuation }
        hasTraffic = false
        if continuing > 0 {
            continuing -= 1
            return 0
        }
        var step = current.distance(after: event) + skipped * current.factor
        if let next { step = min(step, next.distance(after: event)) }
        if let instant, (1..<32_767).contains(instant) { step = min(step, max(1, instant - 1)) }
        return step - 1
    }
}

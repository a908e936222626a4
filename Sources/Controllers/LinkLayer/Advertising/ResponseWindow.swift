import EventLoops

/// The earliest start of a response to a PDU (Core Vol 6 Part B 4.1.1 and 4.2.1).
///
/// There is no latest start: on a loop in real time, a response may start after the instant at which it was due.
struct ResponseWindow {
    /// How early a response may start before the end of the inter frame space, in microseconds: the accuracy of the
    /// active clocks.
    private static let clockMargin: Int64 = 2

    private let first: Instant
    /// Whether the last frame that the receiver locked on to may be a response.
    private(set) var wasMet = false

    /// Creates the window of responses to a PDU that ended at `end`.
    init(after end: Instant) {
        first = end + .microseconds(LinkTiming.interFrameSpace - Self.clockMargin)
    }

    /// Handles the start of a frame.
    mutating func handleStart(at instant: Instant) {
        wasMet = instant >= first
    }
}

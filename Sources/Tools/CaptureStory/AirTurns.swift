import BluetoothTypes

/// Derives the senders of a link's frames where the sniffer does not tell them, and counts the events that it missed.
struct AirTurns: Sendable {
    /// The most between two frames of a connection event, in microseconds: the longest packet, and T_IFS.
    private static let longestTurn: Int64 = 3_000
    /// The shortest connection interval, in microseconds (Core Vol 6 Part B 4.5.1).
    private static let shortestInterval: Int64 = 7_500
    /// How far the central may be off its anchor point, in microseconds, besides what its clock loses. A peripheral
    /// answers 230 microseconds after the anchor point at the earliest.
    private static let jitter: Int64 = 100

    private let start: Int64
    private var lastSide: StorySide?
    private var lastIsEven = false
    /// The time of the last frame, in microseconds since the Unix epoch.
    private(set) var lastFrame: Int64
    /// The times of the last frame of each end.
    private var last = PerSide<Int64?>(nil)
    /// The time of the first frame of the last event, and of the last event that the central began.
    private var event: Int64?
    private var anchor: Int64?
    /// The connection interval in microseconds.
    private var interval: Int64?
    /// Whether the interval is only the least time between two events that were heard.
    private var isLearned: Bool
    /// The interval before frames were missed, which holds again once two events are that far apart.
    private var formerInterval: Int64?
    /// The interval that a connection update announces.
    private var nextInterval: Int64?
    /// Whether the central's sequence number and next expected one are equal. While neither end holds back its
    /// acknowledgements, this does not change, and the opposite holds for the peripheral.
    private var centralIsEven: Bool?

    init(at time: Int64, interval: Int64?, hasBeginning: Bool) {
        (start, lastFrame) = (time, time)
        self.interval = interval
        isLearned = interval == nil
        centralIsEven = hasBeginning ? true : nil
    }

    /// Expects another interval from a later event on.
    mutating func expect(interval: Int64) {
        nextInterval = interval
    }

    /// Learns the interval from the events to come, since a connection update may have been missed.
    mutating func forgetInterval() {
        if !isLearned { formerInterval = interval }
        (interval, nextInterval, isLearned) = (nil, nil, true)
    }

    /// Returns the sender of the next frame, the number of events since the last frame in which none was heard, and
    /// whether the sender was heard in the last event.
    ///
    /// - Parameter time: The time of the frame; nil if frames have none.
    mutating func next(_ frame: AirFrame, at time: Int64?) -> (side: StorySide, missedEvents: Int, isTimely: Bool) {
        guard let time else { return (frame.side ?? .near, 0, false) }
        let isSameEvent = lastSide != nil && time &- lastFrame < Self.longestTurn
        let isEven = (frame.pdu[0] >> 2 ^ frame.pdu[0] >> 3) & 1 == 0
        let side = frame.side ?? (isSameEvent ? lastSide?.other : beginner(isEven: isEven, at: time)) ?? .near
        if isSameEvent, side != lastSide {
            centralIsEven = isEven == lastIsEven ? nil : isEven == (side == .near)
        }
        let missed = isSameEvent ? 0 : begin(at: time, side)
        // Before the first frames, the time of the request for the link counts.
        let longest = interval.map { last[side] == nil ? $0 / 2 : $0 + $0 / 2 } ?? 0
        let isTimely = !isLearned && time &- (last[side] ?? start) < longest
        (lastSide, lastIsEven, lastFrame, last[side]) = (side, isEven, time, time)
        return (side, missed, isTimely)
    }

    /// Returns the sender of an event's first frame: the central, unless its frame was missed.
    private func beginner(isEven: Bool, at time: Int64) -> StorySide {
        guard let centralIsEven, isEven != centralIsEven else { return .near }
        guard let anchor, let interval, interval > 0 else { return .far }
        // At an anchor point it is the central after all.
        let elapsed = time &- anchor
        let phase = elapsed % interval
        let tolerance = Self.jitter + elapsed / 10_000
        return min(phase, interval - phase) <= tolerance ? .near : .far
    }

    /// Begins an event.
    ///
    /// - Returns: The number of events before it in which nothing was heard.
    private mutating func begin(at time: Int64, _ side: StorySide) -> Int {
        defer {
            event = time
            if side == .near { anchor = time }
        }
        guard let event, time > event else { return 0 }
        let spacing = time &- event
        if let next = nextInterval, abs(spacing - next) < next / 8 { (interval, nextInterval) = (next, nil) }
        if isLearned, let former = formerInterval, abs(spacing - former) < former / 8 {
            (interval, isLearned) = (former, false)
        }
        if isLearned, spacing >= Self.shortestInterval - Self.longestTurn {
            interval = min(interval ?? spacing, max(spacing, Self.shortestInterval))
        }
        guard let interval, interval > 0 else { return 0 }
        let longest = max(interval, nextInterval ?? 0)
        return Int(clamping: max(0, (spacing &+ longest / 2) / longest - 1))
    }
}

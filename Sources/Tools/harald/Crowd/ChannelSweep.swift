/// A PDU on a channel.
struct CrowdFrame: Hashable {
    /// The first microsecond, and the first one after the last bit.
    var start, end: Int64
    /// The number of the sender.
    var device: Int
}

/// The PDUs on one channel in the order in which they start, and which of them collide.
///
/// The rule is that of `Radio` with an infinite capture threshold: frames that overlap are all lost. The cost of a
/// frame does not depend on the number of devices.
struct ChannelSweep {
    /// Frames that have not been compared yet, by start.
    private var pending: [CrowdFrame] = []
    /// The last frame compared, unless it has collided.
    private var candidate: CrowdFrame?
    /// The end of the last frame on the air so far.
    private var end = Int64.min

    /// Adds a frame that starts no earlier than the limit of the last call of ``settle(before:)``. Frames arrive almost
    /// in order, so its place is close to the end.
    mutating func add(_ frame: CrowdFrame) {
        var index = pending.count
        while index > 0, pending[index - 1].start > frame.start { index -= 1 }
        pending.insert(frame, at: index)
    }

    /// Returns the last frame, if it has not collided.
    mutating func finish() -> CrowdFrame? {
        defer { candidate = nil }
        return candidate
    }

    /// Compares all frames that start before `limit`. No more of them may be added later.
    ///
    /// - Returns: Frames that have not collided.
    mutating func settle(before limit: Int64) -> [CrowdFrame] {
        var survivors: [CrowdFrame] = []
        var count = 0
        for frame in pending {
            guard frame.start < limit else { break }
            count += 1
            if let candidate, candidate.end <= frame.start { survivors.append(candidate) }
            candidate = frame.start < end ? nil : frame
            end = max(end, frame.end)
        }
        pending.removeFirst(count)
        return survivors
    }
}

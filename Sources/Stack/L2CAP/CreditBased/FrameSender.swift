import BluetoothTypes
import DequeModule

/// The sending half of a credit-based channel: spends its credits and segments SDUs into frames (Core Vol 3 Part A
/// 7.3.1 and 10.1).
struct FrameSender {
    /// The maximum number of credits that a peer may grant in total (Vol 3 Part A 10.1).
    static let maximumCredits = 65_535

    /// The longest SDU that the peer accepts, in octets.
    var mtu: Int
    /// The longest frame payload that the peer accepts, in octets.
    var mps: Int
    /// The number of frames that may be sent.
    private(set) var credits: Int

    private var waiting = Deque<PacketBuffer>()
    // The SDU that has been sent in part, and the number of octets sent.
    private var current: (sdu: PacketBuffer, offset: Int)?

    init(mtu: Int, mps: Int, credits: Int) {
        self.mtu = mtu
        self.mps = mps
        self.credits = credits
    }

    /// The number of SDUs that have not been sent completely.
    var queuedSDUs: Int { waiting.count + (current == nil ? 0 : 1) }

    /// Adds credits; returns false if the total exceeds ``maximumCredits``.
    mutating func add(_ more: UInt16) -> Bool {
        credits += Int(more)
        return credits <= Self.maximumCredits
    }

    /// Queues an SDU, which must not exceed the MTU.
    mutating func add(_ sdu: consuming PacketBuffer) {
        waiting.append(sdu)
    }

    /// Returns the next frame; nil if nothing is queued or there is no credit. `isLast` is true for the last frame of
    /// an SDU.
    ///
    /// An SDU that fits into one frame is sent in its own storage, with the length in its headroom. For a longer SDU
    /// every frame but the last is copied, because each needs headroom. The last one uses the space of its
    /// predecessors.
    mutating func next() -> (frame: PacketBuffer, isLast: Bool)? {
        guard credits > 0 else { return nil }
        if let (sdu, offset) = current {
            credits -= 1
            // Leaves the SDU uniquely referenced, so that the headers of the last frame go into its storage.
            current = nil
            return proceed(sdu, from: offset)
        }
        guard var sdu = waiting.popFirst() else { return nil }
        credits -= 1
        let length = UInt16(truncatingIfNeeded: sdu.count)
        let room = mps - FrameReceiver.lengthFieldLength
        guard sdu.count > room else {
            sdu.prepend(integer: length)
            return (sdu, true)
        }
        var frame = PacketBuffer(capacity: mps)
        frame.append(integer: length)
        frame.append(contentsOf: sdu.prefix(upTo: room))
        current = (sdu, room)
        return (frame, false)
    }

    private mutating func proceed(
        _ sdu: consuming PacketBuffer,
        from offset: Int
    ) -> (frame: PacketBuffer, isLast: Bool) {
        guard sdu.count - offset > mps else {
            let rest = sdu.suffix(after: offset)
            return (rest, true)
        }
        var frame = PacketBuffer(capacity: mps)
        frame.append(contentsOf: sdu.slice(offset..<(offset + mps)))
        current = (sdu, offset + mps)
        return (frame, false)
    }
}

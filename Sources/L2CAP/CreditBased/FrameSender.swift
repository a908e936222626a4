import BluetoothTypes
import DequeModule

/// The sending half of a credit-based channel: counts its credits and cuts SDUs into frames (Core Vol 3 Part A 7.3.1
/// and 10.1).
struct FrameSender {
    /// More credits than this a peer may not give (Vol 3 Part A 10.1).
    static let maximumCredits = 65_535

    /// The longest SDU that the peer takes, in octets.
    var mtu: Int
    /// The longest payload of a frame that the peer takes, in octets.
    var mps: Int
    /// Frames that may be sent.
    private(set) var credits: Int

    private var waiting = Deque<PacketBuffer>()
    // An SDU of which some has been sent, and how much.
    private var current: (sdu: PacketBuffer, offset: Int)?

    init(mtu: Int, mps: Int, credits: Int) {
        self.mtu = mtu
        self.mps = mps
        self.credits = credits
    }

    /// SDUs of which something is still to be sent.
    var queuedSDUs: Int { waiting.count + (current == nil ? 0 : 1) }

    /// Takes credits; false when there are too many now.
    mutating func add(_ more: UInt16) -> Bool {
        credits += Int(more)
        return credits <= Self.maximumCredits
    }

    /// Queues an SDU, which is no longer than the MTU.
    mutating func add(_ sdu: consuming PacketBuffer) {
        waiting.append(sdu)
    }

    /// The next frame, when there is one and a credit for it; `isLast` when an SDU ends with it.
    ///
    /// An SDU that fits a frame is sent in its own storage, with the length in its headroom. Of a longer one all frames
    /// but the last are copied, since each needs headroom; the last has that where the others were.
    mutating func next() -> (frame: PacketBuffer, isLast: Bool)? {
        guard credits > 0 else { return nil }
        if let (sdu, offset) = current {
            credits -= 1
            // Nobody else holds the SDU then, and the last frame's headers go into its storage.
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

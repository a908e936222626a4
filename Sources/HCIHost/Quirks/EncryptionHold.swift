import BluetoothTypes
import EventLoops
import HCI

/// Data that may be encrypted already though the event that says so is not here: where events and data come by different ways
/// they overtake it (quirk 2). They wait for the event, so that they are not taken for plaintext.
///
/// A peripheral is asked for the key after the central has sent its last octet in the clear (Core Vol 6 Part B 5.1.3.1), so
/// what comes behind its answer is encrypted, all of it. A central cannot know when the peripheral has sent its last: only
/// PDUs of pairing wait there, which nobody sends in the clear at that point, and no longer than one connection interval. From the
/// last octet in the clear to the end of the procedure is at least that long, so nothing that somebody has sent in the clear
/// is taken for encrypted (AB-L08).
struct EncryptionHold {
    /// Packets that wait.
    static let maximumCount = 64
    /// How long a peripheral waits for the event; without it the link is not to be trusted.
    static let limit = Duration.seconds(1)
    /// How long a central waits at most, whatever the interval is. The worst lag that was seen is 100 ms.
    static let centralLimit = Duration.milliseconds(100)

    private enum Phase {
        /// Nothing is about to begin.
        case off
        /// All data wait.
        case all
        /// Those of the Security Manager wait this long.
        case pairing(Duration)
    }

    /// What becomes of a packet.
    enum Verdict {
        case deliver
        case held
        /// Too many wait, and the event does not come.
        case tooMany
    }

    private var phase = Phase.off
    private var packets: [(packet: ACLPacket, arrival: Instant)] = []
    // Whether the PDU that is arriving is held.
    private var isHoldingPDU = false

    var isEmpty: Bool { packets.isEmpty }

    /// The host has given the controller a key, and the link is not encrypted.
    mutating func begin(_ role: LERole, interval: UInt16) {
        let time = Duration.microseconds(Int64(interval) * 1_250)
        phase = role == .peripheral ? .all : .pairing(min(time, Self.centralLimit))
    }

    mutating func take(_ packet: ACLPacket, at now: Instant) -> Verdict {
        switch phase {
        case .off: return .deliver
        case .all: break
        case .pairing:
            if packet.boundary.isStart { isHoldingPDU = packet.isOfPairing }
            guard isHoldingPDU else { return .deliver }
        }
        guard packets.count < Self.maximumCount else { return .tooMany }
        packets.append((packet, now))
        return .held
    }

    /// When something has to happen with what waits longest.
    var deadline: Instant? {
        guard let first = packets.first else { return nil }
        switch phase {
        case .off: return nil
        case .all: return first.arrival + Self.limit
        case .pairing(let time): return first.arrival + time
        }
    }

    /// The time is over. Nil when the event had to come and has not; else what was sent in the clear.
    mutating func expire(at now: Instant) -> [ACLPacket]? {
        guard case .pairing(let time) = phase else {
            packets = []
            return nil
        }
        let old = packets.prefix { now - $0.arrival >= time }.map(\.packet)
        packets.removeFirst(old.count)
        return old
    }

    /// The event has come, or nothing is about to begin after all.
    mutating func end() -> [ACLPacket] {
        (phase, isHoldingPDU) = (.off, false)
        defer { packets = [] }
        return packets.map(\.packet)
    }
}

extension ACLPacket {
    /// Whether a PDU of the Security Manager begins, channel 0x0006 (Core Vol 3 Part A 2.1).
    fileprivate var isOfPairing: Bool { payload.count >= 4 && payload[2] == 0x06 && payload[3] == 0 }
}

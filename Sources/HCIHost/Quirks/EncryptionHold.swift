import BluetoothTypes
import EventLoops
import HCI

/// Data that may be encrypted already though the event that says so is not here: where events and data come by different ways
/// they overtake it (quirk 2). They wait for the event, so that they are not taken for plaintext.
///
/// A peripheral is asked for the key after the central has sent its last octet in the clear (Core Vol 6 Part B 5.1.3.1), so
/// what comes behind its answer is encrypted, all of it.
///
/// A central cannot know when the peripheral has sent its last: that may be until LL_ENC_RSP. So as little as can be waits
/// there, which nobody sends in the clear (AB-L08): the keys that a pairing distributes (Vol 3 Part H 3.6.1), each whole in one
/// packet, each once, after the controller has begun to encrypt, and no longer than one connection interval. `Documentation/Quirks.md` says
/// why that is enough.
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
        /// Keys of a pairing wait this long.
        case keys(Duration)
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

    var isEmpty: Bool { packets.isEmpty }

    /// A peripheral's host gives the controller a key, and the link is not encrypted.
    mutating func beginAsPeripheral() { phase = .all }

    /// A central's controller has begun to encrypt a link that is not encrypted.
    mutating func beginAsCentral(interval: UInt16) {
        phase = .keys(min(.microseconds(Int64(interval) * 1_250), Self.centralLimit))
    }

    mutating func take(_ packet: ACLPacket, at now: Instant) -> Verdict {
        switch phase {
        case .off: return .deliver
        case .all: break
        case .keys:
            guard let key = packet.distributedKey, !packets.contains(where: { $0.packet.distributedKey == key }) else {
                return .deliver
            }
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
        case .keys(let time): return first.arrival + time
        }
    }

    /// The time is over. Nil when the event had to come and has not; else what was sent in the clear.
    mutating func expire(at now: Instant) -> [ACLPacket]? {
        guard case .keys(let time) = phase else {
            packets = []
            return nil
        }
        let old = packets.prefix { now - $0.arrival >= time }.map(\.packet)
        packets.removeFirst(old.count)
        return old
    }

    /// The event has come, or nothing is about to begin after all.
    mutating func end() -> [ACLPacket] {
        phase = .off
        defer { packets = [] }
        return packets.map(\.packet)
    }
}

extension ACLPacket {
    /// The codes of the Security Manager's PDUs that give keys, with their lengths (Core Vol 3 Part H 3.6.2 to 3.6.6): Encryption
    /// Information, Central Identification, Identity Information, Identity Address Information, Signing Information.
    private static let keyLengths: [UInt8: Int] = [0x06: 17, 0x07: 11, 0x08: 17, 0x09: 8, 0x0A: 17]

    /// The code of the key that this is, whole, on the channel of the Security Manager, 0x0006 (Core Vol 3 Part A 2.1, 3.1); nil for
    /// anything else. None is longer than what every controller takes in one packet.
    fileprivate var distributedKey: UInt8? {
        guard boundary.isStart, payload.count > 4, payload[2] == 0x06, payload[3] == 0,
            let length = Self.keyLengths[payload[4]], payload.count == 4 + length,
            Int(payload[0]) | Int(payload[1]) << 8 == length
        else { return nil }
        return payload[4]
    }
}

import BluetoothTypes
import EventLoops
import HCI

/// A buffer for data that may already be encrypted while the event that reports the encryption has not arrived. On
/// transports with separate paths for events and data, the data can arrive first (quirk 2). It waits for the event, so
/// that it is not mistaken for plaintext.
///
/// A peripheral's host is asked for the key after the central has sent its last octet in the clear (Core Vol 6 Part B
/// 5.1.3.1). All data that arrives after the host's answer is therefore encrypted.
///
/// A central's host cannot determine when the peripheral has sent its last octet in the clear, which may be as late as
/// LL_ENC_RSP. It therefore holds as little as possible, and only PDUs that no device sends in the clear (AB-L08): the
/// keys that a pairing distributes (Vol 3 Part H 3.6.1), each whole in one packet, each once, after the controller has
/// begun to encrypt, and for one connection interval at most. `Documentation/Quirks.md` explains why that suffices.
struct EncryptionHold {
    /// The maximum number of packets held.
    static let maximumCount = 64
    /// How long a peripheral waits for the event before it distrusts the link.
    static let limit = Duration.seconds(1)
    /// The longest that a central waits, whatever the interval. The longest delay observed is 100 ms.
    static let centralLimit = Duration.milliseconds(100)

    private enum Phase {
        /// No encryption is pending.
        case off
        /// All data is held.
        case all
        /// Keys distributed by a pairing are held for this long.
        case keys(Duration)
    }

    /// How a packet is handled.
    enum Verdict {
        case deliver
        case held
        /// The buffer is full, and the event has not arrived.
        case tooMany
    }

    private var phase = Phase.off
    private var packets: [(packet: ACLPacket, arrival: Instant)] = []

    var isEmpty: Bool { packets.isEmpty }

    /// Starts holding all data: a peripheral's host gives the controller a key for an unencrypted link.
    mutating func beginAsPeripheral() { phase = .all }

    /// Starts holding keys: a central's controller has begun to encrypt an unencrypted link.
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

    /// The time by which ``expire(at:)`` must be called; nil if no packet is held.
    var deadline: Instant? {
        guard let first = packets.first else { return nil }
        switch phase {
        case .off: return nil
        case .all: return first.arrival + Self.limit
        case .keys(let time): return first.arrival + time
        }
    }

    /// Called at the deadline.
    ///
    /// - Returns: The packets that count as plaintext; nil if the event was required, in which case the packets are
    ///   dropped.
    mutating func expire(at now: Instant) -> [ACLPacket]? {
        guard case .keys(let time) = phase else {
            packets = []
            return nil
        }
        let old = packets.prefix { now - $0.arrival >= time }.map(\.packet)
        packets.removeFirst(old.count)
        return old
    }

    /// Stops holding, because the event has arrived or no encryption is pending after all.
    ///
    /// - Returns: The packets that were held.
    mutating func end() -> [ACLPacket] {
        phase = .off
        defer { packets = [] }
        return packets.map(\.packet)
    }
}

extension ACLPacket {
    /// The codes of the Security Manager PDUs that carry keys, with their lengths (Core Vol 3 Part H 3.6.2 to 3.6.6):
    /// Encryption Information, Central Identification, Identity Information, Identity Address Information, Signing
    /// Information.
    private static let keyLengths: [UInt8: Int] = [0x06: 17, 0x07: 11, 0x08: 17, 0x09: 8, 0x0A: 17]

    /// The code of the key PDU that the packet contains whole on the Security Manager channel, 0x0006 (Core Vol 3 Part
    /// A 2.1, 3.1); nil for any other packet. Every controller fits the longest of these PDUs into one packet.
    fileprivate var distributedKey: UInt8? {
        guard boundary.isStart, payload.count > 4, payload[2] == 0x06, payload[3] == 0,
            let length = Self.keyLengths[payload[4]], payload.count == 4 + length,
            Int(payload[0]) | Int(payload[1]) << 8 == length
        else { return nil }
        return payload[4]
    }
}

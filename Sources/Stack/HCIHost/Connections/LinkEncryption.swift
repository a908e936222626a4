import BluetoothTypes
import EventLoops
import HCI

/// A change in the encryption of a link (Core Vol 4 Part E 7.7.8, 7.7.39).
package enum EncryptionReport: Hashable, Sendable {
    case on
    /// The link was encrypted before and now uses the most recent key from this host.
    case refreshed
    case off
    /// Encryption has failed to start: ``HCIStatus/pinOrKeyMissing`` if the peer has no key,
    /// ``HCIStatus/unsupportedRemoteFeature`` if it does not support encryption. The link stays in its previous state.
    case failed(HCIStatus)
}

/// The encryption of a link, as the host knows it: what the controller has reported, and the keys whose outcome is
/// pending.
struct LinkEncryption {
    private(set) var isOn = false
    private(set) var keySize: Int?
    /// The number of keys that the host gave the controller for this link and whose outcome is pending.
    private var keysGiven = 0
    /// Data held until the outcome is reported.
    var hold = EncryptionHold()

    /// Records a key that this host gives the controller.
    mutating func noteKey(asPeripheral: Bool) {
        keysGiven += 1
        if asPeripheral, !isOn { hold.beginAsPeripheral() }
    }

    /// Records that a central's controller has accepted a key, and begins to encrypt.
    mutating func noteKeyAccepted(interval: UInt16) {
        if keysGiven > 0, !isOn { hold.beginAsCentral(interval: interval) }
    }

    /// Records that the controller has refused a key. Keys that it accepted before still count.
    ///
    /// - Returns: Whether none is left.
    mutating func noteKeyRefused() -> Bool {
        guard keysGiven > 0 else { return false }
        keysGiven -= 1
        return keysGiven == 0
    }

    /// Stores a change; nil if this host has given no key for it (AB-H05).
    mutating func changed(_ status: HCIStatus, _ state: EncryptionState, keySize: Int?) -> EncryptionReport? {
        defer { keysGiven = 0 }
        guard status == .success else { return .failed(status) }
        if state == .off {
            (isOn, self.keySize) = (false, nil)
            return .off
        }
        // `on` is the only encryption state of an LE link.
        guard state == .on, keysGiven > 0 || isOn else { return nil }
        (isOn, self.keySize) = (true, keySize)
        return .on
    }

    /// Stores the outcome of a change of the key; nil if this host has given none.
    mutating func refreshed(_ status: HCIStatus) -> EncryptionReport? {
        defer { keysGiven = 0 }
        guard isOn, keysGiven > 0 else { return nil }
        return status == .success ? .refreshed : .failed(status)
    }
}

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
    static let maximumCount = 64
    /// How long a peripheral waits for the event before it distrusts the link.
    static let limit = Duration.seconds(1)
    /// The longest that a central waits, whatever the interval. The longest delay observed is 100 ms.
    static let centralLimit = Duration.milliseconds(100)

    private enum Phase {
        case off
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

    mutating func receive(_ packet: ACLPacket, at now: Instant) -> Verdict {
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

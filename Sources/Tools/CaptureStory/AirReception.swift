import BluetoothTypes

/// The frames of a link as a sniffer hears them, some of which it misses.
///
/// It tells which frame is a new packet, which one is sent again, and which one can be read.
///
/// The story, the redactor and the dissector all ask here, so that they agree. A frame with the sequence number of the
/// last one that was heard from the same end, but with other contents, is a new packet: the one in between was missed
/// (Core Vol 6 Part B 4.5.9). After a gap, LL_START_ENC_REQ may be among what was missed. A frame is then read only if
/// it cannot be ciphertext.
struct AirReception: Sendable {
    /// Whether the frames of the link are encrypted.
    enum Protection: Hashable, Sendable {
        case plain
        /// Frames were missed since this was known.
        case unknown
        case encrypted
    }

    /// The content of a frame.
    enum Content: Hashable, Sendable {
        case empty
        /// The last packet of the same end, again.
        case repeated(Protection)
        /// The last packet of the same end, or a new one with the same contents.
        case possiblyRepeated(Protection)
        /// Ciphertext, or what may be ciphertext.
        case unreadable(Protection)
        case control
        case start
        /// A further part of an L2CAP PDU, whose earlier parts may have been missed.
        case continuation(isWhole: Bool)
        case reserved
    }

    struct Verdict: Hashable, Sendable {
        let side: StorySide
        let content: Content
        /// Whether frames are missing before this one.
        let followsGap: Bool
        /// Whether this is the first transmission of a new packet for certain, so that its time says when it was sent.
        let isTimely: Bool
    }

    private struct Advertisement: Hashable, Sendable {
        let sequence: UInt8
        let expected: UInt8
        let kind: UInt8
        let count: Int
        let digest: UInt64
        var protection: Protection

        /// Whether both are the same packet, as far as can be seen.
        func isSameAdvertisement(_ other: Advertisement) -> Bool {
            (sequence, kind, count, digest) == (other.sequence, other.kind, other.count, other.digest)
        }
    }

    private(set) var protection: Protection
    private var previous = PerSide<Advertisement?>(nil)
    private var isPartMissing = PerSide(true)
    private var turns: AirTurns
    /// Whether the capture holds the beginning of the link, whose numbers begin with 0.
    private let hasBeginning: Bool

    /// - Parameters:
    ///   - hasBeginning: Whether the capture holds the request that made the link.
    ///   - interval: The connection interval, in units of 1.25 ms, if it is known.
    ///   - time: The time of the request or of the first frame, in microseconds since the Unix epoch.
    init(hasBeginning: Bool, interval: UInt16? = nil, at time: Int64) {
        self.hasBeginning = hasBeginning
        protection = hasBeginning ? .plain : .unknown
        turns = AirTurns(at: time, interval: interval.map { Int64($0) * 1_250 }, hasBeginning: hasBeginning)
    }

    /// The time of the last frame, in microseconds since the Unix epoch.
    var lastFrame: Int64 { turns.lastFrame }

    /// Expects another connection interval, in units of 1.25 ms, from a later event on.
    mutating func change(interval: UInt16) { turns.expect(interval: Int64(interval) * 1_250) }

    /// Receives a frame whose CRC is right, in the order of the capture.
    ///
    /// - Parameter time: The time of the frame, in microseconds since the Unix epoch; nil if frames have none.
    mutating func receive(_ frame: AirFrame, at time: Int64?) -> Verdict {
        let header = frame.pdu[0]
        let payload = frame.payload
        let (side, missedEvents, isTimely) = turns.next(frame, at: time)
        var new = Advertisement(
            sequence: header >> 3 & 1,
            expected: header >> 2 & 1,
            kind: header & 0b11,
            count: payload.count,
            digest: Self.digest(payload),
            protection: protection
        )
        let isGap = isGap(new, from: side, missedEvents: missedEvents)
        if isGap { forget() }
        let content = content(of: frame, new, from: side, missesEvents: missedEvents > 0)
        new.protection = Self.protection(of: content) ?? protection
        previous[side] = new
        if content == .control, payload.octet(at: 0) == 0x05 { protection = .encrypted }
        return Verdict(side: side, content: content, followsGap: isGap, isTimely: isTimely && !isGap)
    }

    // MARK: Gaps

    private func isGap(_ new: Advertisement, from side: StorySide, missedEvents: Int) -> Bool {
        guard let last = previous[side] else {
            if missedEvents > 1 { return true }
            return hasBeginning && (new.sequence == 1 || accepts(new.expected, before: 0, from: side))
        }
        if new.sequence == last.sequence, !new.isSameAdvertisement(last) { return true }
        if accepts(new.expected, before: last.expected, from: side) { return true }
        return missedEvents > 1 || missedEvents == 1 && new.sequence == last.sequence
    }

    /// Whether an end has accepted a packet of the other end that was not heard: its next expected sequence number has
    /// changed without one with the number before.
    private func accepts(_ expected: UInt8, before: UInt8, from side: StorySide) -> Bool {
        guard expected != before else { return false }
        guard let other = previous[side.other] else { return hasBeginning }
        return other.sequence != before
    }

    private mutating func forget() {
        if protection == .plain { protection = .unknown }
        isPartMissing = PerSide(true)
        turns.forgetInterval()
    }

    // MARK: Contents

    private mutating func content(of frame: AirFrame, _ new: Advertisement, from side: StorySide, missesEvents: Bool)
        -> Content
    {
        guard !frame.payload.isEmpty else { return .empty }
        if let last = previous[side], new.isSameAdvertisement(last) {
            // An event in which nothing was heard has place for another packet, after which the same contents are new.
            return missesEvents ? .possiblyRepeated(last.protection) : .repeated(last.protection)
        }
        // An octet about the constant tone extension precedes the payload of such a PDU (Core Vol 6 Part B 2.4).
        guard frame.pdu[0] & 0x20 == 0, !frame.isIsochronous else { return .unreadable(protection) }
        if protection == .unknown, Self.cannotBeCiphertext(frame) { protection = .plain }
        guard protection == .plain else { return .unreadable(protection) }
        switch new.kind {
        case 0b11: return .control
        case 0b10:
            isPartMissing[side] = false
            return .start
        case 0b01: return .continuation(isWhole: !isPartMissing[side])
        default: return .reserved
        }
    }

    private static func protection(of content: Content) -> Protection? {
        switch content {
        case .repeated(let protection), .possiblyRepeated(let protection), .unreadable(let protection): protection
        default: nil
        }
    }

    /// The lengths of the control PDUs with their opcodes, by opcode (Core Vol 6 Part B 2.4.2).
    static let controlLengths: [Int] = [
        12, 8, 2, 23, 13, 1, 1, 2, 9, 9, 1, 1, 6, 2, 9, 24, 24, 3, 1, 1, 9, 9, 3, 3, 5, 3, 2, 1, 35, 2, 2, 36, 9, 16, 4,
        4, 5, 5, 11, 11, 4, 11, 43, 27, 27,
    ]
    private static let lengths = Set(controlLengths)
    private static let checkLength = 4

    /// Whether a frame with a payload is readable for certain.
    ///
    /// Ciphertext is four octets longer than what it encrypts, so that it has at least five. A complete PDU of a fixed
    /// channel, whose header tells its exact length, is random octets with a probability of less than one in a
    /// thousand millions.
    private static func cannotBeCiphertext(_ frame: AirFrame) -> Bool {
        let payload = frame.payload
        guard payload.count > checkLength else { return true }
        switch frame.pdu[0] & 0b11 {
        case 0b11:
            let opcode = Int(payload[0])
            return opcode < controlLengths.count && controlLengths[opcode] == payload.count
                && !lengths.contains(payload.count - checkLength)
        case 0b10:
            guard let length = payload.word(at: 0), let channel = payload.word(at: 2) else { return false }
            return Int(length) + 4 == payload.count && (4...6).contains(channel)
        default: return false
        }
    }

    /// FNV-1a, which tells contents apart without keeping them.
    private static func digest(_ payload: PacketBuffer) -> UInt64 {
        payload.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

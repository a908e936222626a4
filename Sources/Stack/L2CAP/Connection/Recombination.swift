import BluetoothTypes
import EventLoops

/// Recombines the fragments of one link into L2CAP PDUs (Core Vol 3 Part A 7.2.2).
///
/// It buffers at most one PDU, and never more of it than its channel may carry.
struct Recombination {
    /// The length of the basic header in octets: length and channel (Vol 3 Part A 3.1).
    static let headerLength = 4

    /// The result of a fragment.
    enum Outcome {
        /// The PDU is incomplete, or the fragment was skipped.
        case none
        case payload(ChannelIdentifier, PacketBuffer)
        /// Data was dropped, for this reason.
        case discarded(L2CAPDiscard)
        /// A PDU longer than its channel's limit is dropped. `beginning` is the part of its payload that came with the
        /// header.
        case tooLong(ChannelIdentifier, length: Int, limit: Int, beginning: PacketBuffer)
        /// The beginning of the payload of such a PDU, if none of it came with the header.
        case beginning(ChannelIdentifier, length: Int, PacketBuffer)
    }

    private enum State {
        /// The next fragment begins a PDU.
        case idle
        /// Part of a PDU has arrived, possibly not even the whole header.
        case collecting(PacketBuffer, since: Instant)
        /// The rest of a dropped PDU is skipped. If the PDU is too long, its header is kept until its payload begins.
        case skipping(Header?)
    }

    private var state = State.idle

    /// The time at which the incomplete PDU began; nil if there is none.
    var incompleteSince: Instant? {
        if case .collecting(_, let since) = state { since } else { nil }
    }

    /// The channel of the incomplete PDU; nil if there is none or its header is incomplete.
    var incompleteChannel: ChannelIdentifier? {
        if case .collecting(let collected, _) = state { Header(collected)?.channel } else { nil }
    }

    /// Processes a fragment.
    ///
    /// `now` is evaluated only for an incomplete PDU: most PDUs come in one fragment.
    ///
    /// - Parameters:
    ///   - fragment: The fragment, with the basic header if it starts a PDU.
    ///   - isStart: Whether the fragment starts a PDU.
    ///   - now: The current time.
    ///   - limit: Returns the longest payload of a channel, or nil if the channel is not open.
    /// - Returns: The incomplete PDU that this fragment interrupted, if any, and the result of the fragment.
    mutating func handle(
        _ fragment: PacketBuffer,
        isStart: Bool,
        at now: @autoclosure () -> Instant,
        limit: (ChannelIdentifier) -> Int?
    ) -> (interrupted: L2CAPDiscard?, outcome: Outcome) {
        if isStart {
            let interrupted = abandon().map { L2CAPDiscard.interrupted(received: $0) }
            return (interrupted, begin(fragment, at: now(), limit: limit))
        }
        switch state {
        case .idle: return (nil, .discarded(.continuationWithoutStart))
        case .skipping(let header):
            guard let header, !fragment.isEmpty else { return (nil, .none) }
            state = .skipping(nil)
            return (nil, .beginning(header.channel, length: header.length, fragment))
        case .collecting(var collected, let since):
            // Release the storage held by the state, so that appending does not copy it.
            state = .idle
            collected.append(contentsOf: fragment)
            return (nil, proceed(collected, since: since, limit: limit))
        }
    }

    /// Drops the incomplete PDU and returns the number of its octets; nil if there is none.
    mutating func abandon() -> Int? {
        guard case .collecting(let collected, _) = state else { return nil }
        state = .skipping(nil)
        return collected.count
    }

    private mutating func begin(
        _ fragment: PacketBuffer,
        at now: @autoclosure () -> Instant,
        limit: (ChannelIdentifier) -> Int?
    ) -> Outcome {
        state = .idle
        guard let header = Header(fragment), fragment.count < Self.headerLength + header.length else {
            return proceed(fragment, since: now(), limit: limit)
        }
        if let refusal = check(header, fragment, limit: limit) { return refusal }
        // The length is within the channel's limit, so that a peer cannot make this allocation large.
        var collected = PacketBuffer(headroom: 0, capacity: Self.headerLength + header.length)
        collected.append(contentsOf: fragment)
        state = .collecting(collected, since: now())
        return .none
    }

    /// Evaluates what has arrived of a PDU.
    private mutating func proceed(
        _ collected: PacketBuffer,
        since: @autoclosure () -> Instant,
        limit: (ChannelIdentifier) -> Int?
    ) -> Outcome {
        guard let header = Header(collected) else {
            state = .collecting(collected, since: since())
            return .none
        }
        if let refusal = check(header, collected, limit: limit) { return refusal }
        let received = collected.count - Self.headerLength
        if received < header.length {
            state = .collecting(collected, since: since())
            return .none
        }
        guard received == header.length else {
            state = .skipping(nil)
            return .discarded(.overrun(header.channel, length: header.length, received: received))
        }
        return .payload(header.channel, collected.suffix(after: Self.headerLength))
    }

    /// Refuses a PDU that its channel cannot accept, before it is buffered (AB-C01).
    private mutating func check(
        _ header: Header,
        _ collected: PacketBuffer,
        limit: (ChannelIdentifier) -> Int?
    ) -> Outcome? {
        guard let limit = limit(header.channel) else {
            state = .skipping(nil)
            return .discarded(.unassigned(header.channel))
        }
        guard header.length > limit else { return nil }
        let beginning = collected.suffix(after: Self.headerLength)
        state = .skipping(beginning.isEmpty ? header : nil)
        return .tooLong(header.channel, length: header.length, limit: limit, beginning: beginning)
    }
}

extension Recombination {
    /// The basic header (Vol 3 Part A 3.1).
    private struct Header {
        var length: Int
        var channel: ChannelIdentifier

        /// Parses the header; nil if there are fewer than four octets.
        init?(_ bytes: PacketBuffer) {
            guard bytes.count >= Recombination.headerLength else { return nil }
            length = Int(bytes[0]) | Int(bytes[1]) << 8
            channel = ChannelIdentifier(rawValue: UInt16(bytes[2]) | UInt16(bytes[3]) << 8)
        }
    }
}

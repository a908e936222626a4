import BluetoothTypes
import EventLoops

/// Puts the fragments of one link together to L2CAP PDUs (Core Vol 3 Part A 7.2.2), with at most one PDU in memory
/// and no more of it than its channel may carry.
struct Recombination {
    /// Octets of the basic header: length and channel (Vol 3 Part A 3.1).
    static let headerLength = 4

    /// What a fragment led to.
    enum Outcome {
        /// More is to come, or nothing is to be done.
        case none
        /// A whole PDU.
        case payload(ChannelIdentifier, PacketBuffer)
        /// Octets thrown away.
        case discarded(L2CAPDiscard)
        /// A PDU is thrown away that is longer than its channel takes: by how much, and what of its payload came with the
        /// header.
        case tooLong(ChannelIdentifier, length: Int, limit: Int, beginning: PacketBuffer)
        /// The beginning of the payload of such a PDU, when none of it came with the header.
        case beginning(ChannelIdentifier, length: Int, PacketBuffer)
    }

    private enum State {
        /// The next fragment begins a PDU.
        case idle
        /// Some of a PDU is there, perhaps not even the whole header.
        case collecting(PacketBuffer, since: Instant)
        /// The rest of a PDU that nobody wants passes by. Of one that is too long the header stays until its payload begins.
        case skipping(Header?)
    }

    private var state = State.idle

    /// When the PDU that is incomplete began.
    var incompleteSince: Instant? {
        if case .collecting(_, let since) = state { since } else { nil }
    }

    /// The channel of the PDU that is incomplete, when so much of it is there.
    var incompleteChannel: ChannelIdentifier? {
        if case .collecting(let collected, _) = state { Header(collected)?.channel } else { nil }
    }

    /// Takes a fragment. `limit` tells the longest payload of a channel, nil when nobody listens there. Most PDUs come
    /// in one fragment, and nobody asks for the time.
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
            // The state lets go of the storage, so that appending does not copy what is there.
            state = .idle
            collected.append(contentsOf: fragment)
            return (nil, proceed(collected, since: since, limit: limit))
        }
    }

    /// Gives up the PDU that is incomplete; tells how much of it there was.
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
        // The length is within the channel's limit, so memory for it is no gift to a stranger.
        var collected = PacketBuffer(headroom: 0, capacity: Self.headerLength + header.length)
        collected.append(contentsOf: fragment)
        state = .collecting(collected, since: now())
        return .none
    }

    /// Looks at what is there of a PDU.
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

    /// AB-C01: a PDU that nobody can take is not collected.
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

        /// Nil when fewer than four octets are there.
        init?(_ bytes: PacketBuffer) {
            guard bytes.count >= Recombination.headerLength else { return nil }
            length = Int(bytes[0]) | Int(bytes[1]) << 8
            channel = ChannelIdentifier(rawValue: UInt16(bytes[2]) | UInt16(bytes[3]) << 8)
        }
    }
}

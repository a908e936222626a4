import BluetoothTypes
import DequeModule

/// The receiving half of a credit-based channel: enforces the peer's credits and reassembles SDUs (Core Vol 3 Part A
/// 3.4.3, 7.3.2 and 10.1).
///
/// It buffers at most one incomplete SDU, of at most ``mtu`` octets, and the complete SDUs for an app that has paused,
/// whose frames count against the window.
struct FrameReceiver {
    /// The length of the SDU length field in the first frame of an SDU, in octets.
    static let lengthFieldLength = 2

    /// The result of a frame.
    enum Outcome: Equatable {
        /// The SDU is incomplete, or it is held because the app has paused.
        case none
        /// A complete SDU, and the moment of its first frame.
        case sdu(PacketBuffer, LinkMoment)
        /// The peer violated the specification.
        case violation(ChannelViolation)
    }

    private enum State {
        /// The next frame begins an SDU.
        case idle
        /// Part of an SDU of `length` octets has arrived, in `frames` frames, the first of them at the given moment.
        case collecting(PacketBuffer, length: Int, frames: Int, LinkMoment)
    }

    /// The longest SDU, in octets.
    var mtu: Int
    /// The longest frame payload, in octets.
    var mps: Int
    /// The level to which credits are replenished.
    let window: Int
    /// Whether complete SDUs are held and no credits are granted.
    var isPaused = false

    /// The number of frames that the peer may still send.
    private(set) var credits: Int
    private var state = State.idle
    private var held = Deque<(sdu: PacketBuffer, frames: Int, moment: LinkMoment)>()
    private var heldFrames = 0

    /// Creates a receiver with the full window as initial credits, as announced to the peer.
    init(_ parameters: ChannelParameters) {
        mtu = parameters.mtu
        mps = parameters.mps
        window = parameters.window
        credits = parameters.window
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each frame and grant.
    var brokenInvariant: String? {
        guard credits >= 0, credits + heldFrames <= window else {
            return "the peer has \(credits) credits and \(heldFrames) held frames, for a window of \(window)"
        }
        guard heldFrames == held.reduce(0, { $0 + $1.frames }) else { return "the held frames do not add up" }
        guard case .collecting(let collected, let length, _, _) = state else { return nil }
        return collected.count < length ? nil : "a complete SDU is not delivered"
    }

    /// Processes the payload of a frame that began to arrive at `moment`.
    mutating func receive(_ frame: PacketBuffer, at moment: LinkMoment) -> Outcome {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        guard credits > 0 else { return .violation(.noCredits) }
        credits -= 1
        guard frame.count <= mps else { return .violation(.frameTooLong) }
        switch state {
        case .idle: return begin(frame, at: moment)
        case .collecting(var collected, let length, let frames, let moment):
            // AB-C02: empty frames would let a peer keep an SDU incomplete for ever.
            guard !frame.isEmpty else { return .violation(.frameTooShort) }
            guard collected.count + frame.count <= length else { return .violation(.sduOverrun) }
            // Release the storage held by the state, so that appending does not copy it.
            state = .idle
            collected.append(contentsOf: frame)
            return proceed(collected, length: length, frames: frames + 1, moment)
        }
    }

    private mutating func begin(_ frame: PacketBuffer, at moment: LinkMoment) -> Outcome {
        guard frame.count >= Self.lengthFieldLength else { return .violation(.frameTooShort) }
        let length = Int(frame[0]) | Int(frame[1]) << 8
        guard length <= mtu else { return .violation(.sduTooLong) }
        let payload = frame.suffix(after: Self.lengthFieldLength)
        guard payload.count <= length else { return .violation(.sduOverrun) }
        // An SDU in a single frame is a slice of that frame.
        if payload.count == length { return proceed(payload, length: length, frames: 1, moment) }
        var collected = PacketBuffer(headroom: 0, capacity: length)
        collected.append(contentsOf: payload)
        return proceed(collected, length: length, frames: 1, moment)
    }

    private mutating func proceed(
        _ collected: PacketBuffer,
        length: Int,
        frames: Int,
        _ moment: LinkMoment
    ) -> Outcome {
        guard collected.count == length else {
            state = .collecting(collected, length: length, frames: frames, moment)
            return .none
        }
        guard isPaused else { return .sdu(collected, moment) }
        held.append((collected, frames, moment))
        heldFrames += frames
        return .none
    }

    /// Removes and returns the oldest held SDU; nil if there is none or the app has paused again.
    mutating func nextHeld() -> (sdu: PacketBuffer, moment: LinkMoment)? {
        guard !isPaused, let next = held.popFirst() else { return nil }
        heldFrames -= next.frames
        return (next.sdu, next.moment)
    }

    /// Removes and returns all held SDUs, when the channel closes.
    mutating func takeHeld() -> [(sdu: PacketBuffer, moment: LinkMoment)] {
        let taken = held.map { (sdu: $0.sdu, moment: $0.moment) }
        held = []
        heldFrames = 0
        return taken
    }

    /// Replenishes the credits and returns those to grant to the peer; nil if none are due.
    ///
    /// Credits are granted once half of the window is used up, so that one command serves many frames, and never while
    /// the app has paused. An SDU that spans more frames than the window gets credits while it arrives.
    mutating func takeGrant() -> UInt16? {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let outstanding = credits + heldFrames
        guard !isPaused, outstanding <= window / 2 else { return nil }
        credits += window - outstanding
        return UInt16(window - outstanding)
    }
}

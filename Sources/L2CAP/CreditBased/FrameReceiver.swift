import BluetoothTypes
import DequeModule

/// The receiving half of a credit-based channel: counts the peer's credits and puts SDUs together (Core Vol 3 Part A
/// 3.4.3, 7.3.2 and 10.1).
///
/// It holds at most one SDU that is incomplete, of at most ``mtu`` octets, and those that wait for an app that has
/// paused, whose frames count against the window.
struct FrameReceiver {
    /// Octets in front of the first frame of an SDU.
    static let lengthFieldLength = 2

    /// What a frame led to.
    enum Outcome: Equatable {
        /// More is to come, or an SDU waits.
        case none
        /// A whole SDU, and the moment of its first frame.
        case sdu(PacketBuffer, LinkMoment)
        /// The peer broke a rule.
        case violation(ChannelViolation)
    }

    private enum State {
        /// The next frame begins an SDU.
        case idle
        /// Some of an SDU of `length` octets is there, from so many frames, the first at a moment.
        case collecting(PacketBuffer, length: Int, frames: Int, LinkMoment)
    }

    /// The longest SDU, in octets.
    var mtu: Int
    /// The longest payload of a frame, in octets.
    var mps: Int
    /// What the credits are filled up to.
    let window: Int
    /// Whether SDUs wait and no credits are given.
    var isPaused = false

    /// Frames that the peer may still send.
    private(set) var credits: Int
    private var state = State.idle
    private var held = Deque<(sdu: PacketBuffer, frames: Int, moment: LinkMoment)>()
    private var heldFrames = 0

    /// With as many credits as the window has, which the peer has been told of.
    init(_ parameters: ChannelParameters) {
        mtu = parameters.mtu
        mps = parameters.mps
        window = parameters.window
        credits = parameters.window
    }

    /// Takes the payload of a frame that began to arrive at `moment`.
    mutating func receive(_ frame: PacketBuffer, at moment: LinkMoment) -> Outcome {
        guard credits > 0 else { return .violation(.noCredits) }
        credits -= 1
        guard frame.count <= mps else { return .violation(.frameTooLong) }
        switch state {
        case .idle: return begin(frame, at: moment)
        case .collecting(var collected, let length, let frames, let moment):
            // AB-C02: a frame without octets would let a peer keep an SDU open for ever.
            guard !frame.isEmpty else { return .violation(.frameTooShort) }
            guard collected.count + frame.count <= length else { return .violation(.sduOverrun) }
            // The state lets go of the storage, so that appending does not copy what is there.
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
        // An SDU in one frame is a slice of that frame.
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

    /// The oldest SDU that waited while the app had paused, when it has not paused again.
    mutating func nextHeld() -> (sdu: PacketBuffer, moment: LinkMoment)? {
        guard !isPaused, let next = held.popFirst() else { return nil }
        heldFrames -= next.frames
        return (next.sdu, next.moment)
    }

    /// All SDUs that waited while the app had paused, for the end of the channel.
    mutating func takeHeld() -> [(sdu: PacketBuffer, moment: LinkMoment)] {
        let taken = held.map { (sdu: $0.sdu, moment: $0.moment) }
        held = []
        heldFrames = 0
        return taken
    }

    /// Credits for the peer, when it has used up half of the window: one command for many frames. None while the app
    /// has paused. An SDU of more frames than the window has gets its credits as it comes.
    mutating func takeGrant() -> UInt16? {
        let outstanding = credits + heldFrames
        guard !isPaused, outstanding <= window / 2 else { return nil }
        credits += window - outstanding
        return UInt16(window - outstanding)
    }
}

import BluetoothTypes
import DequeModule

/// What waits on one channel of an app in both directions, and how the channel comes to its end.
///
/// An app that does not read grants nothing, and then the channel is paused, so that its peer gets no credits. A peer that gives
/// none lets pile up what the app has sent, which is ``ServiceLimits/channelWindow`` octets at most. What came before the end
/// is for the app, whenever it reads.
struct ChannelRelay {
    enum Phase: Hashable {
        case open
        /// The app has let go; what it has sent is still to go out.
        case closing
        /// The channel is gone, and the app has not taken all that came.
        case ended(ServiceError?)
        /// Nothing is left of it.
        case over
    }

    enum Event {
        /// The peer has sent an SDU.
        case received(PacketBuffer)
        /// The app takes so many more octets.
        case granted(Int)
        /// The app has sent octets.
        case sent(PacketBuffer)
        /// The app lets go.
        case closed
        /// Nothing waits in the channel.
        case drained
        /// The peer has taken nothing for too long.
        case timedOut
        /// The channel is gone.
        case gone(ServiceError?)
    }

    enum Action: Hashable {
        case tell(ChannelEvent)
        case pause(Bool)
        case disconnect
        case startTimer
        case endTimer
        /// Nothing more comes of it.
        case forget
    }

    private(set) var phase = Phase.open
    private var inbox = Deque<PacketBuffer>()
    private var outbox = Deque<PacketBuffer>()
    private var queued = 0
    private var granted = 0
    /// Whether the app knows the channel: before, nothing is told of it.
    private var isTaken = false
    private var isPaused = false

    mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.open, .received(let sdu)):
            // An SDU may be empty; a stream has no use for it.
            if !sdu.isEmpty { inbox.append(sdu) }
            return deliver()
        case (.open, .granted(let count)), (.ended, .granted(let count)): return grant(count)
        case (.open, .sent(let octets)): return send(octets)
        case (.open, .closed): return close()
        case (.closing, .drained), (.closing, .timedOut): return [.disconnect]
        case (.open, .gone(let error)):
            phase = .ended(error)
            outbox = []
            return deliver()
        case (.closing, .gone): return finish([.endTimer])
        case (.ended, .closed): return finish([])
        case (.open, .drained), (.open, .timedOut), (.closing, _), (.ended, _), (.over, _): return []
        }
    }

    /// The next octets to be sent, up to `limit` of them: what the app sent at once goes into as few SDUs as possible, and
    /// nobody sees where one ends (behaviour 8.13).
    mutating func nextSDU(limit: Int) -> PacketBuffer? {
        guard let first = outbox.popFirst() else { return nil }
        guard first.count > limit else {
            queued -= first.count
            return first
        }
        outbox.prepend(first.suffix(after: limit))
        queued -= limit
        return first.prefix(upTo: limit)
    }

    /// An app that sends more than there is room for does not keep to the protocol (AB-G05).
    private mutating func send(_ octets: PacketBuffer) -> [Action] {
        guard octets.count <= ServiceLimits.channelWindow - queued else {
            outbox = []
            inbox = []
            phase = .ended(ServiceError(.outOfSpace, reason: "more was sent than there is room for"))
            return [.disconnect] + deliver()
        }
        guard !octets.isEmpty else { return [] }
        outbox.append(octets)
        queued += octets.count
        return []
    }

    private mutating func grant(_ count: Int) -> [Action] {
        isTaken = true
        granted = min(granted + max(count, 0), ServiceLimits.channelWindow)
        return deliver()
    }

    private mutating func close() -> [Action] {
        phase = .closing
        inbox = []
        // What still comes is not wanted, and must not hold up the answers that are.
        defer { isPaused = false }
        return [.startTimer] + (isPaused ? [.pause(false)] : [])
    }

    /// Tells what the app has room for, and the end when there is nothing before it.
    private mutating func deliver() -> [Action] {
        var actions: [Action] = []
        while granted > 0, let first = inbox.popFirst() {
            let count = min(granted, first.count)
            granted -= count
            actions.append(.tell(.received(first.prefix(upTo: count))))
            if count < first.count { inbox.prepend(first.suffix(after: count)) }
        }
        if case .ended(let error) = phase {
            guard isTaken, inbox.isEmpty else { return actions }
            return finish(actions + [.tell(.ended(error))])
        }
        guard isPaused == inbox.isEmpty else { return actions }
        isPaused = !inbox.isEmpty
        return actions + [.pause(isPaused)]
    }

    private mutating func finish(_ actions: [Action]) -> [Action] {
        phase = .over
        inbox = []
        outbox = []
        return actions + [.forget]
    }
}

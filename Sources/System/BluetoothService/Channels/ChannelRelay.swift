import BluetoothTypes
import DequeModule
import ServiceMessages

/// The state of one channel of an app: what is queued in both directions, and how the channel ends.
///
/// An app that does not read grants nothing. The channel is then paused, so that its peer gets no credits. If the peer
/// grants no credits, the app's octets are queued, up to ``ServiceLimits/channelWindow``. The app can read everything
/// that arrived before the end.
struct ChannelRelay {
    enum Phase: Hashable {
        case open
        /// The app has closed the channel; its queued octets are still being sent.
        case closing
        /// The channel is gone, and the app has not read everything that arrived.
        case ended(ServiceError?)
        /// Nothing remains to be done.
        case over
    }

    enum Event {
        case received(PacketBuffer)
        /// The app can receive this many more octets.
        case granted(Int)
        /// The app has sent octets.
        case sent(PacketBuffer)
        case closed
        /// The queue of the L2CAP channel is empty.
        case drained
        /// The app's last octets were not sent in time.
        case timedOut
        /// The L2CAP channel has closed.
        case gone(ServiceError?)
    }

    enum Action: Hashable {
        case report(ChannelEvent)
        case pause(Bool)
        case disconnect
        case startTimer
        case endTimer
        /// The channel is finished, and its owner can drop it.
        case forget
    }

    private(set) var phase = Phase.open
    private var inbox = Deque<PacketBuffer>()
    private var outbox = Deque<PacketBuffer>()
    private var queued = 0
    private var granted = 0
    /// Whether the app has started to receive. Until then it is sent no events.
    private var isTaken = false
    private var isPaused = false

    mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.open, .received(let sdu)):
            // An SDU may be empty, which has no meaning in a stream.
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

    /// Removes and returns the next octets to send, up to `limit`. Octets that the app sent together are put into as
    /// few SDUs as possible; SDU boundaries have no meaning to the app (behaviour 8.13).
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

    /// Queues octets of the app. An app that exceeds its window violates the protocol, and its channel ends (AB-G05).
    private mutating func send(_ octets: PacketBuffer) -> [Action] {
        guard octets.count <= ServiceLimits.channelWindow - queued else {
            outbox = []
            inbox = []
            phase = .ended(ServiceError(.outOfSpace, reason: "the app sent more octets than the channel has room for"))
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
        // Data that still arrive are dropped, and must not hold up the answers that are needed.
        defer { isPaused = false }
        return [.startTimer] + (isPaused ? [.pause(false)] : [])
    }

    private mutating func deliver() -> [Action] {
        var actions: [Action] = []
        while granted > 0, let first = inbox.popFirst() {
            let count = min(granted, first.count)
            granted -= count
            actions.append(.report(.received(first.prefix(upTo: count))))
            if count < first.count { inbox.prepend(first.suffix(after: count)) }
        }
        if case .ended(let error) = phase {
            guard isTaken, inbox.isEmpty else { return actions }
            return finish(actions + [.report(.ended(error))])
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

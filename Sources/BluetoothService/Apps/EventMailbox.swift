import BluetoothTypes
import DequeModule
import EventLoops
import Foundation

/// Takes the events of a manager to its app.
package protocol EventSink: AnyObject, Sendable {
    /// Takes an event, in order. On the loop only.
    func take(_ event: Event, on loop: any EventLoop)
}

/// The way of events from the service to one manager, on the service's side: they go to the app, or wait while nobody there
/// takes them. That a connection is gone does not mean that its managers are.
///
/// What waits is bounded (AB-G05). What a later event makes void is not kept: of an advertiser only what was heard last; of
/// states of the radio that follow each other only the last one, but that it was off is told, since connections ended with it
/// (behaviour 1.11), and before that it was less than off, since services ended with that (behaviour 1.13). Room that comes back is added up, and so are the octets of a channel, which its window bounds. When there
/// are too many, the oldest of those go that nobody waits for, and are counted: advertisements, and values that a peer sends
/// without being asked.
struct EventMailbox {
    /// Events that may wait for one manager, while some of them are such that nobody waits for.
    static let capacity = 256
    /// Events of all kinds that may wait for one manager.
    static let maximumWaiting = 4_096

    private enum State {
        case attached(any EventSink)
        case detached(waiting: Deque<Event>, lost: Int)
    }

    private var state: State

    init(_ sink: any EventSink) {
        state = .attached(sink)
    }

    /// Events that wait.
    var waiting: [Event] {
        if case .detached(let waiting, _) = state { Array(waiting) } else { [] }
    }

    /// Events that had to go since nobody took any.
    var lost: Int {
        if case .detached(_, let lost) = state { lost } else { 0 }
    }

    /// Passes an event on, or keeps it.
    mutating func take(_ event: Event, on loop: any EventLoop) {
        switch state {
        case .attached(let sink): sink.take(event, on: loop)
        case .detached(var waiting, var lost):
            state = .detached(waiting: [], lost: 0)
            Self.dropWhatIsVoid(in: &waiting, with: event)
            if !Self.add(event, to: &waiting) { waiting.append(event) }
            if let index = Self.tooMuch(in: waiting) {
                waiting.remove(at: index)
                lost += 1
            }
            state = .detached(waiting: waiting, lost: lost)
        }
    }

    private static func dropWhatIsVoid(in waiting: inout Deque<Event>, with event: Event) {
        if case .stateChanged(let new) = event, new != .poweredOn {
            var ending: Event?
            while let last = waiting.last, case .stateChanged(let old) = last {
                waiting.removeLast()
                // What ended with it for good is not there again with the power.
                if new == .poweredOff, old.rawValue < new.rawValue, ending == nil { ending = last }
            }
            if let ending { waiting.append(ending) }
        }
        if let peer = event.discovered, let old = waiting.firstIndex(where: { $0.discovered == peer }) {
            waiting.remove(at: old)
        }
    }

    /// Adds what an event brings to another one of its kind; false when there is none.
    private static func add(_ event: Event, to waiting: inout Deque<Event>) -> Bool {
        guard event.isSummand else { return false }
        for index in waiting.indices.reversed() {
            if let sum = waiting[index].adding(event) {
                waiting[index] = sum
                return true
            }
            // What was counted before belongs to another connection.
            if waiting[index].beginsAnew { return false }
        }
        return false
    }

    /// Which event has to go for want of room.
    private static func tooMuch(in waiting: Deque<Event>) -> Int? {
        guard waiting.count > capacity else { return nil }
        if let index = waiting.firstIndex(where: \.isExpendable) { return index }
        return waiting.count > maximumWaiting ? waiting.firstIndex { !$0.isState } ?? 0 : nil
    }

    /// Keeps events from now on.
    mutating func detach() {
        if case .attached = state { state = .detached(waiting: [], lost: 0) }
    }

    /// Passes on what waits, in order, and events from now on.
    ///
    /// - Returns: How many events there was no room for.
    @discardableResult
    mutating func attach(_ sink: any EventSink, on loop: any EventLoop) -> Int {
        let (waiting, lost) = (waiting, lost)
        state = .attached(sink)
        for event in waiting { sink.take(event, on: loop) }
        return lost
    }
}

extension Event {
    fileprivate var isState: Bool {
        if case .stateChanged = self { true } else { false }
    }

    /// Whether nobody waits for it, and nothing is out of order without it.
    fileprivate var isExpendable: Bool {
        switch self {
        case .central(.discovered), .central(.peer(_, .valueNotified)): true
        case .peripheral(.writeRequested(_, _, _, let needsResponse)): !needsResponse
        case .stateChanged, .central, .peripheral, .channel: false
        }
    }

    /// Whether there may be another one that it can be added to.
    fileprivate var isSummand: Bool {
        switch self {
        case .central(.peer(_, .writeCreditsReturned)), .peripheral(.updateCreditsReturned): true
        case .channel(_, .room), .channel(_, .received): true
        case .stateChanged, .central, .peripheral, .channel: false
        }
    }

    /// Whether room that was given before it is not the same as room after it.
    fileprivate var beginsAnew: Bool {
        switch self {
        case .stateChanged, .central(.peer(_, .connected)), .central(.peer(_, .disconnected)): true
        case .central, .peripheral, .channel: false
        }
    }

    /// Both in one, where that is the same for the app; nil where it is not.
    fileprivate func adding(_ next: Event) -> Event? {
        if case .central(.peer(let peer, .writeCreditsReturned(let old))) = self,
            case .central(.peer(peer, .writeCreditsReturned(let new))) = next
        {
            return .central(.peer(peer, .writeCreditsReturned(old + new)))
        }
        if case .peripheral(.updateCreditsReturned(let old)) = self,
            case .peripheral(.updateCreditsReturned(let new)) = next
        {
            return .peripheral(.updateCreditsReturned(old + new))
        }
        guard case .channel(let channel, let old) = self, case .channel(channel, let new) = next else { return nil }
        return old.adding(new).map { .channel(channel, $0) }
    }

    /// Whom a discovery is of.
    fileprivate var discovered: UUID? {
        if case .central(.discovered(let peer, _, _)) = self { peer.identifier } else { nil }
    }
}

extension ChannelEvent {
    fileprivate func adding(_ next: ChannelEvent) -> ChannelEvent? {
        switch (self, next) {
        case (.room(let old), .room(let new)): .room(old + new)
        case (.received(let old), .received(let new)): .received(PacketBuffer(Array(old) + Array(new)))
        case (.room, _), (.received, _), (.ended, _): nil
        }
    }
}

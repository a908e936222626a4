import DequeModule
import EventLoops
import Foundation

/// Takes the events of a manager to its app.
protocol EventSink: AnyObject, Sendable {
    /// Takes an event, in order. On the loop only.
    func take(_ event: Event, on loop: any EventLoop)
}

/// The way of events from the service to one manager, on the service's side: they go to the app, or wait while nobody there
/// takes them. That a connection is gone does not mean that its managers are.
///
/// What waits is bounded (AB-G05). What a later event makes void is not kept: of an advertiser only what was heard last; of
/// states of the radio that follow each other only the last one, but that it was off is told, since connections ended with it
/// (behaviour 1.11). When there is no room the oldest events go, and are counted.
struct EventMailbox {
    /// Events that may wait for one manager.
    static let capacity = 256

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
            waiting.append(event)
            if waiting.count > Self.capacity {
                waiting.remove(at: waiting.firstIndex { !$0.isState } ?? 0)
                lost += 1
            }
            state = .detached(waiting: waiting, lost: lost)
        }
    }

    private static func dropWhatIsVoid(in waiting: inout Deque<Event>, with event: Event) {
        if case .stateChanged(let new) = event, new != .poweredOn {
            while waiting.last?.isState == true { waiting.removeLast() }
        }
        if let peer = event.discovered, let old = waiting.firstIndex(where: { $0.discovered == peer }) {
            waiting.remove(at: old)
        }
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

    /// Whom a discovery is of.
    fileprivate var discovered: UUID? {
        if case .central(.discovered(let peer, _, _)) = self { peer.identifier } else { nil }
    }
}

import BluetoothTypes
import DequeModule
import EventLoops
import Foundation

/// Takes the events of a manager to its app.
package protocol EventSink: AnyObject, Sendable {
    /// Whether events are taken now. A sink that has no room is attached again when it has. On the loop only.
    var hasRoom: Bool { get }
    /// The number of events that the app has been called with, of those that this sink has taken; nil for a sink that does not count, whose
    /// events are read as soon as they are taken. Events of channels don't count. On the loop only.
    var eventsRead: UInt64? { get }
    /// Takes an event, in order. On the loop only.
    func take(_ event: Event, on loop: any EventLoop)
}

extension EventSink {
    /// A sink within the process always has room.
    package var hasRoom: Bool { true }
    /// Does not count.
    package var eventsRead: UInt64? { nil }
}

/// The way of events from the service to one manager, on the service's side: they go to the app, or wait while no sink is attached or
/// the sink has no room. That a connection is gone does not mean that its managers are.
///
/// A sink may call the mailbox from inside ``EventSink/take(_:on:)``: the mailbox calls it in no mutating access and at no time while its own state
/// is unsettled. An event that arrives while another one is being handed over waits behind the others.
///
/// What waits is bounded (AB-G05). What a later event makes void is not kept: of an advertiser only what was heard last; of
/// states of the radio that follow each other only the last one, but that it was off is told, since connections ended with it
/// (behaviour 1.11), and before that it was less than off, since services ended with that (behaviour 1.13). Room that comes back is added up, and so are the octets of a channel, which its window bounds. When there
/// are too many, the oldest of those go that nobody waits for, and are counted: advertisements, and values that a peer sends
/// without being asked.
///
/// An event that a counting sink has taken is kept until the app has read it, for the next process in case this one ends before that. A sink
/// on a line takes no more than ``ServiceLimits/unreadEvents``; of a sink that takes more the oldest are not kept.
final class EventMailbox {
    /// Events that may wait for one manager, while some of them are such that nobody waits for.
    static let capacity = 256
    /// Events of all kinds that may wait for one manager.
    static let maximumWaiting = 4_096

    private var sink: (any EventSink)?
    /// The last sink, attached or not, which says what the app has read.
    private var reader: (any EventSink)?
    private var taken = Deque<Event>()
    /// The number of events that have left ``taken``.
    private var left: UInt64 = 0
    /// Whether the app has read something that the next process would have been told.
    private(set) var hasReadNews = false
    private var queue = Deque<Event>()
    private var isHandingOver = false
    /// The number of events dropped for want of room since the last attachment.
    private(set) var lost = 0

    /// A mailbox whose events go to `sink`; with nil they wait.
    init(_ sink: (any EventSink)?) {
        self.sink = sink
        reader = sink
    }

    /// Events that wait.
    var waiting: [Event] { Array(queue) }

    /// Passes an event on, or keeps it.
    func take(_ event: Event, on loop: any EventLoop) {
        guard sink != nil, queue.isEmpty, !isHandingOver else { return keep(event) }
        keep(event)
        handOver(on: loop)
    }

    private func keep(_ event: Event) {
        Self.dropWhatIsVoid(in: &queue, with: event)
        if !Self.add(event, to: &queue) { queue.append(event) }
        if let index = Self.tooMuch(in: queue) {
            queue.remove(at: index)
            lost += 1
        }
    }

    /// Passes on what waits, as long as there is a sink that has room.
    private func handOver(on loop: any EventLoop) {
        guard !isHandingOver else { return }
        isHandingOver = true
        defer { isHandingOver = false }
        while let sink, sink.hasRoom, let event = queue.popFirst() {
            if let read = sink.eventsRead, !event.isOfChannel {
                forgetRead(read)
                taken.append(event)
                if taken.count > ServiceLimits.unreadEvents { forgetRead(left + 1) }
            }
            sink.take(event, on: loop)
        }
    }

    private func forgetRead(_ count: UInt64) {
        while left < count, let event = taken.popFirst() {
            left += 1
            if event.isKeptUnread { hasReadNews = true }
        }
    }

    /// The events that the app has not read although the sink took them.
    var unread: [Event] {
        if let read = reader?.eventsRead { forgetRead(read) }
        return Array(taken)
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

    /// Drops what waits and is void.
    func removeAll(where isVoid: (Event) -> Bool) { queue.removeAll(where: isVoid) }

    /// Keeps events from now on.
    func detach() { sink = nil }

    /// Passes on what waits, in order, and events from now on. What the sink has no room for waits until it is attached again.
    ///
    /// - Returns: How many events were dropped since the last attachment.
    @discardableResult
    func attach(_ sink: any EventSink, on loop: any EventLoop) -> Int {
        self.sink = sink
        reader = sink
        let dropped = lost
        lost = 0
        handOver(on: loop)
        return dropped
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

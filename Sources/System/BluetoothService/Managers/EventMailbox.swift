import BluetoothTypes
import DequeModule
import EventLoops
import Foundation
import ServiceMessages

/// The service's end of the event path to one manager. Events go to the sink, or wait while no sink is attached or the
/// sink has no room. Managers may outlive their connection.
///
/// The mailbox is reentrant: a sink may call it from inside ``EventSink/accept(_:on:)``. The mailbox calls the sink in
/// no mutating access, and at no time while its own state is unsettled. An event that arrives while another event is
/// being handed over waits behind the others.
///
/// The queue is bounded (AB-G05). Events that a later event supersedes are dropped:
///
/// - Of an advertiser, only the latest discovery is kept.
/// - Of successive radio states, only the last is kept. Two are never dropped: power off, because connections ended
///   with it (behaviour 1.11), and a state below power off before it, because services ended with that
///   (behaviour 1.13).
/// - Returned room is summed up, and so are the octets of a channel, which its window bounds.
///
/// When the queue overflows, the oldest expendable events are dropped and counted: advertisements, and values that a
/// peer sends unasked.
///
/// An event that a counting sink has accepted is kept until the app has read it. If the process ends before that, the
/// next one receives it. A sink on a connection accepts no more than ``ServiceLimits/unreadEvents``. Of a sink that
/// accepts more, the oldest are not kept.
final class EventMailbox {
    /// The number of events that may wait for one manager as long as some of them are expendable.
    static let capacity = 256
    /// The number of events of all kinds that may wait for one manager.
    static let maximumWaiting = 4_096

    private var sink: (any EventSink)?
    /// The last sink, attached or not, which counts the events that the app has read.
    private var reader: (any EventSink)?
    private var unreadEvents = Deque<Event>()
    /// The number of events that have left ``unreadEvents``.
    private var left: UInt64 = 0
    /// Whether the app has read an event that would otherwise go to the next process.
    private(set) var hasReadNews = false
    private var queue = Deque<Event>()
    /// The search for events of ``queue`` to drop. No event before ``ExpendableSearch/searched`` is expendable.
    private var search = ExpendableSearch()
    private var isHandingOver = false
    /// The number of events dropped for lack of room since the last attachment.
    private(set) var lost = 0

    /// Creates a mailbox whose events go to `sink`. With nil they wait.
    init(_ sink: (any EventSink)?) {
        self.sink = sink
        reader = sink
    }

    var waiting: [Event] { Self.list(queue) }

    /// Copies a queue. `Array(queue)` of an empty queue writes a count of 0 into the storage that all empty arrays of
    /// the process share, which ThreadSanitizer reports as a race between two loops.
    private static func list(_ queue: Deque<Event>) -> [Event] { queue.map { $0 } }

    func accept(_ event: Event, on loop: any EventLoop) {
        guard let sink, queue.isEmpty, !isHandingOver, sink.hasRoom else { return keep(event) }
        isHandingOver = true
        pass(event, to: sink, on: loop)
        isHandingOver = false
        // Events that arrived in the meantime.
        if !queue.isEmpty { handOver(on: loop) }
    }

    private func keep(_ event: Event) {
        dropVoidedEvents(with: event)
        if !Self.add(event, to: &queue) { queue.append(event) }
        if let index = tooMuch() {
            remove(at: index)
            lost += 1
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each event that waits.
    private var brokenInvariant: String? {
        guard queue.count <= Self.maximumWaiting else { return "too many events wait" }
        guard unreadEvents.count <= ServiceLimits.unreadEvents else { return "too many unread events are kept" }
        return search.searched <= queue.count ? nil : "the search is beyond the end of the queue"
    }

    private func remove(at index: Int) {
        queue.remove(at: index)
        search.removed(at: index)
    }

    /// Passes queued events on, as long as there is a sink with room.
    private func handOver(on loop: any EventLoop) {
        guard !isHandingOver else { return }
        isHandingOver = true
        defer { isHandingOver = false }
        while let sink, sink.hasRoom, let event = queue.popFirst() {
            search.removed(at: 0)
            pass(event, to: sink, on: loop)
        }
    }

    private func pass(_ event: Event, to sink: any EventSink, on loop: any EventLoop) {
        if let read = sink.eventsRead, !event.isOfChannel {
            forgetRead(read)
            unreadEvents.append(event)
            if unreadEvents.count > ServiceLimits.unreadEvents { forgetRead(left + 1) }
        }
        sink.accept(event, on: loop)
    }

    private func forgetRead(_ count: UInt64) {
        while left < count, let event = unreadEvents.popFirst() {
            left += 1
            if event.isKeptUnread { hasReadNews = true }
        }
    }

    var unread: [Event] {
        if let read = reader?.eventsRead { forgetRead(read) }
        return Self.list(unreadEvents)
    }

    private func dropVoidedEvents(with event: Event) {
        if case .stateChanged(let new) = event, new != .poweredOn {
            var ending: Event?
            while let last = queue.last, case .stateChanged(let old) = last {
                queue.removeLast()
                // Services that ended with that state do not come back with the power, so the app is notified of it.
                if new == .poweredOff, old.rawValue < new.rawValue, ending == nil { ending = last }
            }
            search.shortened(to: queue.count)
            if let ending { queue.append(ending) }
        }
        // Discoveries are expendable, so none precedes the search.
        if let peer = event.discovered,
            let old = queue[search.searched...].firstIndex(where: { $0.discovered == peer })
        {
            remove(at: old)
        }
    }

    /// Merges an event into a queued one of its kind. Returns false if there is none.
    private static func add(_ event: Event, to waiting: inout Deque<Event>) -> Bool {
        guard event.isSummand else { return false }
        for index in waiting.indices.reversed() {
            if let sum = waiting[index].adding(event) {
                waiting[index] = sum
                return true
            }
            // An earlier count belongs to another connection.
            if waiting[index].resetsCounts { return false }
        }
        return false
    }

    /// Returns the index of the event to drop for lack of room, or nil if there is room.
    private func tooMuch() -> Int? {
        guard queue.count > Self.capacity else { return nil }
        if let index = search.first(in: queue, where: \.isExpendable) { return index }
        return queue.count > Self.maximumWaiting ? queue.firstIndex { !$0.isState } ?? 0 : nil
    }

    func removeAll(where isVoid: (Event) -> Bool) {
        queue.removeAll(where: isVoid)
        search.restart()
    }

    func detach() { sink = nil }

    /// Delivers the queued events in order, then later events. Events for which the sink has no room wait until it is
    /// attached again.
    ///
    /// - Returns: The number of events dropped since the last attachment.
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

    /// Whether the app does not wait for this event, and the other events stay consistent without it.
    fileprivate var isExpendable: Bool {
        switch self {
        case .central(.discovered), .central(.peer(_, .valueNotified)): true
        case .peripheral(.writeRequested(_, _, _, let needsResponse)): !needsResponse
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: false
        }
    }

    /// Whether a later event of the same kind may be merged into this one.
    fileprivate var isSummand: Bool {
        switch self {
        case .central(.peer(_, .writeCreditsReturned)), .peripheral(.updateCreditsReturned): true
        case .channel(_, .room), .channel(_, .received): true
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: false
        }
    }

    /// Whether this event resets the counts, so that room granted before it must not be added to room granted after it.
    fileprivate var resetsCounts: Bool {
        switch self {
        case .stateChanged, .central(.peer(_, .connected)), .central(.peer(_, .disconnected)): true
        case .central, .peripheral, .channel, .setup, .activity: false
        }
    }

    /// Merges two events. Returns nil if that would make a difference to the app.
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

import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService

/// Queues the events of a manager while the app consumes none.
@Suite struct EventMailboxTests {
    /// A sink of limited capacity that calls the mailbox from inside ``take(_:on:)``.
    private final class NarrowSink: EventSink {
        private struct State {
            var room: Int
            var taken: [Event] = []
        }

        private let state: Mutex<State>
        private let whileTaking: @Sendable (Event) -> Void

        init(room: Int, whileTaking: @escaping @Sendable (Event) -> Void = { _ in }) {
            state = Mutex(State(room: room))
            self.whileTaking = whileTaking
        }

        var taken: [Event] { state.withLock { $0.taken } }
        var hasRoom: Bool { state.withLock { $0.room > 0 } }
        func make(room: Int) { state.withLock { $0.room = room } }

        func accept(_ event: Event, on loop: any EventLoop) {
            state.withLock { state in
                state.taken.append(event)
                state.room -= 1
            }
            whileTaking(event)
        }
    }

    private let loop = VirtualEventLoop()
    private let sink = RecordingSink()

    /// The events that a sink receives when it attaches after all of `events` arrived without one.
    private func held(_ events: [Event]) -> (events: [Event], lost: Int) {
        let mailbox = EventMailbox(RecordingSink())
        mailbox.detach()
        for event in events { mailbox.accept(event, on: loop) }
        #expect(mailbox.waiting.count <= EventMailbox.capacity)
        let lost = mailbox.attach(sink, on: loop)
        #expect(mailbox.waiting.isEmpty)
        #expect(mailbox.lost == 0)
        return (sink.taken, lost)
    }

    private func value(_ number: Int) -> Event {
        .central(.peer(.blank, .valueNotified(3, PacketBuffer([UInt8(truncatingIfNeeded: number)]))))
    }

    private func answer(_ number: Int) -> Event {
        .central(.peer(.blank, .valueRead(3, .success(PacketBuffer([UInt8(truncatingIfNeeded: number)])))))
    }

    private func heard(_ number: UInt8, rssi: Int) -> Event {
        var peer = PeerInfo()
        peer.identifier = UUID([UInt8](repeating: number, count: 16))
        return .central(.discovered(peer, Advertisement(), rssi: rssi))
    }

    @Test func anAttachedSinkGetsEachEventAtOnceAndOnce() {
        let mailbox = EventMailbox(sink)
        mailbox.accept(value(1), on: loop)
        #expect(sink.taken == [value(1)])
        let other = RecordingSink()
        mailbox.attach(other, on: loop)
        mailbox.accept(value(2), on: loop)
        #expect(sink.taken == [value(1)])
        #expect(other.taken == [value(2)])
    }

    /// Behaviour 9.3: values queue in order.
    @Test("behaviour 9.3: values queue in order until they are consumed")
    func valuesStayInOrder() {
        let events = (0..<EventMailbox.capacity).map(value)
        let (got, lost) = held(events)
        #expect(got == events)
        #expect(lost == 0)
    }

    @Test("AB-G05: a full queue drops the oldest events and counts them")
    func whenThereIsNoRoomTheOldestGoAndAreCounted() {
        let events = (0..<EventMailbox.capacity + 3).map(value)
        let (got, lost) = held(events)
        #expect(got == Array(events.dropFirst(3)))
        #expect(lost == 3)
    }

    @Test func ofAnAdvertiserOnlyTheLastThatWasHeardWaits() {
        let (got, lost) = held([heard(1, rssi: -40), value(1), heard(2, rssi: -50), heard(1, rssi: -60)])
        #expect(got == [value(1), heard(2, rssi: -50), heard(1, rssi: -60)])
        #expect(lost == 0)
    }

    /// The off state is still reported, because connections ended with it (behaviour 1.11).
    @Test("behaviour 1.11: of consecutive states only the last is reported")
    func ofStatesInARowTheLastIsTold() {
        let (got, _) = held([
            .stateChanged(.resetting), .stateChanged(.unsupported), .stateChanged(.poweredOn), value(1),
            .stateChanged(.poweredOff), .stateChanged(.poweredOn), .stateChanged(.resetting),
        ])
        let expected: [Event] = [
            .stateChanged(.unsupported), .stateChanged(.poweredOn), value(1), .stateChanged(.resetting),
        ]
        #expect(got == expected)
    }

    @Test(
        "behaviours 1.13, 1.14: a state below off is reported before off, because it ended more",
        arguments: 1...3
    )
    func thatItWasLessThanOffIsTold(count: Int) {
        let states: [ManagerState] = [.unauthorized, .poweredOn, .poweredOff, .poweredOn]
        let (got, _) = held(Array(repeating: states, count: count).joined().map { .stateChanged($0) })
        #expect(got == [.stateChanged(.unauthorized), .stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    @Test func statesDoNotGiveWayToValues() {
        let (got, lost) = held([.stateChanged(.resetting)] + (0..<EventMailbox.capacity).map(value))
        #expect(got.first == .stateChanged(.resetting))
        #expect(got.dropFirst().first == value(1))
        #expect(lost == 1)
    }

    @Test("AB-G05: a sink without capacity leaves events queued in order, and gets them when it has capacity again")
    func aSinkWithoutRoomKeepsTheRestWaiting() {
        let mailbox = EventMailbox(nil)
        for number in 0..<5 { mailbox.accept(answer(number), on: loop) }
        let narrow = NarrowSink(room: 2)
        mailbox.attach(narrow, on: loop)
        #expect(narrow.taken == (0..<2).map(answer))
        #expect(mailbox.waiting == (2..<5).map(answer))
        mailbox.accept(answer(5), on: loop)
        // Freed capacity alone delivers nothing; otherwise, the order would depend on timing.
        narrow.make(room: 10)
        mailbox.accept(answer(6), on: loop)
        #expect(narrow.taken.count == 2)
        mailbox.attach(narrow, on: loop)
        #expect(narrow.taken == (0..<7).map(answer))
        #expect(mailbox.waiting.isEmpty)
    }

    @Test("AB-G05: events queue within limits while an attached sink has no capacity")
    func anAttachedSinkWithoutRoomHasBounds() {
        let mailbox = EventMailbox(NarrowSink(room: 0))
        for number in 0..<EventMailbox.capacity + 3 { mailbox.accept(value(number), on: loop) }
        #expect(mailbox.waiting.count == EventMailbox.capacity)
        #expect(mailbox.lost == 3)
        #expect(mailbox.attach(sink, on: loop) == 3)
        #expect(mailbox.attach(sink, on: loop) == 0)
    }

    @Test("AB-G05: a sink may detach the mailbox, attach another sink and add events while it receives one")
    func aSinkMayCallTheMailbox() {
        let box = Mutex<LoopBound<EventMailbox>?>(nil)
        let loop = loop
        let mailbox = EventMailbox(nil)
        for number in 0..<4 { mailbox.accept(answer(number), on: loop) }
        let last = NarrowSink(room: 10)
        let busy = NarrowSink(room: 10) { [answer] event in
            guard let mailbox = box.withLock({ $0 })?.value else { return }
            if event == answer(0) { mailbox.accept(answer(4), on: loop) }
            if event == answer(1) { mailbox.detach() }
            if event == answer(2) { mailbox.attach(last, on: loop) }
        }
        box.withLock { $0 = LoopBound(mailbox, loop: loop) }
        mailbox.attach(busy, on: loop)
        #expect(busy.taken == (0..<2).map(answer))
        #expect(mailbox.waiting == (2..<5).map(answer))
        mailbox.attach(busy, on: loop)
        #expect(busy.taken == (0..<3).map(answer))
        #expect(last.taken == (3..<5).map(answer))
        box.withLock { $0 = nil }
    }

    @Test func detachingTwiceKeepsQueuedEvents() {
        let mailbox = EventMailbox(RecordingSink())
        mailbox.detach()
        mailbox.accept(value(1), on: loop)
        mailbox.detach()
        mailbox.attach(sink, on: loop)
        #expect(sink.taken == [value(1)])
    }

    @Test("AB-G05, behaviour 15.11: responses are not dropped in favour of unsolicited events")
    func answersDoNotGiveWayToValues() {
        let (got, lost) = held([answer(1)] + (0..<EventMailbox.capacity).map(value))
        #expect(got.first == answer(1))
        #expect(got.dropFirst().first == value(1))
        #expect(lost == 1)
    }

    @Test("AB-G05: queued responses are bounded too")
    func ofAnswersThereIsABound() {
        let mailbox = EventMailbox(RecordingSink())
        mailbox.detach()
        for number in 0..<EventMailbox.maximumWaiting + 2 { mailbox.accept(answer(number), on: loop) }
        #expect(mailbox.waiting.count == EventMailbox.maximumWaiting)
        #expect(mailbox.lost == 2)
        #expect(mailbox.waiting.first == answer(2))
    }

    /// If credits were lost, the app would wait for ever (behaviours 5.12, 7.43).
    @Test("behaviours 5.12, 7.43: returned credits are added up, for each connection separately")
    func roomIsAddedUp() {
        let room = Event.central(.peer(.blank, .writeCreditsReturned(2)))
        let sum = Event.central(.peer(.blank, .writeCreditsReturned(4)))
        let end = Event.central(.peer(.blank, .disconnected(nil, isReconnecting: false, timestamp: nil)))
        let updates = Event.peripheral(.updateCreditsReturned(3))
        let (got, lost) = held([room, value(1), room, updates, updates, end, room])
        #expect(got == [sum, value(1), .peripheral(.updateCreditsReturned(6)), end, room])
        #expect(lost == 0)
    }

    @Test("behaviour 8.13: the data of a channel is joined while it waits, and none is lost")
    func theOctetsOfAChannelWaitTogether() {
        let (first, second) = (ChannelID(1), ChannelID(2))
        let events: [Event] = [
            .channel(first, .received([1])), .channel(second, .received([7])), .channel(first, .received([2, 3])),
            .channel(first, .room(5)), .channel(first, .room(6)), .channel(first, .ended(nil)),
        ]
        let (got, _) = held(events)
        #expect(
            got == [
                .channel(first, .received([1, 2, 3])), .channel(second, .received([7])), .channel(first, .room(11)),
                .channel(first, .ended(nil)),
            ]
        )
    }
}

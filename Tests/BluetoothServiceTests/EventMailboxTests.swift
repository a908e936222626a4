import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService

/// Where the events of a manager wait while nobody in the app takes them.
@Suite struct EventMailboxTests {
    private final class Sink: EventSink {
        private let events = Mutex<[Event]>([])
        var taken: [Event] { events.withLock { $0 } }
        func take(_ event: Event, on loop: any EventLoop) { events.withLock { $0.append(event) } }
    }

    private let loop = VirtualEventLoop()
    private let sink = Sink()

    /// What a sink gets that is attached after all of `events` came while there was none.
    private func held(_ events: [Event]) -> (events: [Event], lost: Int) {
        var mailbox = EventMailbox(Sink())
        mailbox.detach()
        for event in events { mailbox.take(event, on: loop) }
        #expect(mailbox.waiting.count <= EventMailbox.capacity)
        let lost = mailbox.attach(sink, on: loop)
        #expect(mailbox.waiting.isEmpty && mailbox.lost == 0)
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
        var mailbox = EventMailbox(sink)
        mailbox.take(value(1), on: loop)
        #expect(sink.taken == [value(1)])
        let other = Sink()
        mailbox.attach(other, on: loop)
        mailbox.take(value(2), on: loop)
        #expect(sink.taken == [value(1)] && other.taken == [value(2)])
    }

    /// Behaviour 9.3: values wait in order.
    @Test("behaviour 9.3: values wait in order until they are taken")
    func valuesStayInOrder() {
        let events = (0..<EventMailbox.capacity).map(value)
        let (got, lost) = held(events)
        #expect(got == events && lost == 0)
    }

    @Test("AB-G05: when there is no room the oldest events go and are counted")
    func whenThereIsNoRoomTheOldestGoAndAreCounted() {
        let events = (0..<EventMailbox.capacity + 3).map(value)
        let (got, lost) = held(events)
        #expect(got == Array(events.dropFirst(3)) && lost == 3)
    }

    @Test func ofAnAdvertiserOnlyTheLastThatWasHeardWaits() {
        let (got, lost) = held([heard(1, rssi: -40), value(1), heard(2, rssi: -50), heard(1, rssi: -60)])
        #expect(got == [value(1), heard(2, rssi: -50), heard(1, rssi: -60)] && lost == 0)
    }

    /// That the radio was off is told, since connections ended with it (behaviour 1.11).
    @Test("behaviour 1.11: of several states in a row only the last is told")
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
        "behaviours 1.13, 1.14: that it was less than off is told before that it was off, since that ended more",
        arguments: 1...3
    )
    func thatItWasLessThanOffIsTold(count: Int) {
        let states: [ManagerState] = [.unauthorized, .poweredOn, .poweredOff, .poweredOn]
        let (got, _) = held(Array(repeating: states, count: count).joined().map { .stateChanged($0) })
        #expect(got == [.stateChanged(.unauthorized), .stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    @Test func statesDoNotGiveWayToValues() {
        let (got, lost) = held([.stateChanged(.resetting)] + (0..<EventMailbox.capacity).map(value))
        #expect(got.first == .stateChanged(.resetting) && got.dropFirst().first == value(1) && lost == 1)
    }

    @Test func whoIsDetachedTwiceKeepsWhatWaits() {
        var mailbox = EventMailbox(Sink())
        mailbox.detach()
        mailbox.take(value(1), on: loop)
        mailbox.detach()
        mailbox.attach(sink, on: loop)
        #expect(sink.taken == [value(1)])
    }

    @Test("AB-G05, behaviour 15.11: what somebody waits for does not give way to what nobody asked for")
    func answersDoNotGiveWayToValues() {
        let (got, lost) = held([answer(1)] + (0..<EventMailbox.capacity).map(value))
        #expect(got.first == answer(1) && got.dropFirst().first == value(1) && lost == 1)
    }

    @Test("AB-G05: of answers too there is a bound")
    func ofAnswersThereIsABound() {
        var mailbox = EventMailbox(Sink())
        mailbox.detach()
        for number in 0..<EventMailbox.maximumWaiting + 2 { mailbox.take(answer(number), on: loop) }
        #expect(mailbox.waiting.count == EventMailbox.maximumWaiting && mailbox.lost == 2)
        #expect(mailbox.waiting.first == answer(2))
    }

    /// Lost credits would let the app wait for ever (behaviours 5.12, 7.43).
    @Test("behaviours 5.12, 7.43: room that comes back is added up, for each connection apart")
    func roomIsAddedUp() {
        let room = Event.central(.peer(.blank, .writeCreditsReturned(2)))
        let sum = Event.central(.peer(.blank, .writeCreditsReturned(4)))
        let end = Event.central(.peer(.blank, .disconnected(nil, isReconnecting: false, timestamp: nil)))
        let updates = Event.peripheral(.updateCreditsReturned(3))
        let (got, lost) = held([room, value(1), room, updates, updates, end, room])
        #expect(got == [sum, value(1), .peripheral(.updateCreditsReturned(6)), end, room] && lost == 0)
    }

    @Test("behaviour 8.13: the octets of a channel wait in one piece, and none is lost")
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

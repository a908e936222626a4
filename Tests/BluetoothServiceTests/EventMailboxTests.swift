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
}

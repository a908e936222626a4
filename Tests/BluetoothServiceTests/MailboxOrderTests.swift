import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import BluetoothService

/// Which pending events are kept, dropped or merged.
@Suite struct MailboxOrderTests {
    private let loop = VirtualEventLoop()

    /// Returns the events that a sink receives if it is attached after `events`.
    private func held(_ events: [Event]) -> (events: [Event], lost: Int) {
        let (mailbox, sink) = (EventMailbox(nil), RecordingSink())
        for event in events { mailbox.accept(event, on: loop) }
        let lost = mailbox.attach(sink, on: loop)
        return (sink.taken, lost)
    }

    private func peer(_ number: UInt16) -> UUID {
        UUID([UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 0xFF)])
    }

    private func heard(_ number: UInt16) -> Event {
        var info = PeerInfo()
        info.identifier = peer(number)
        return .central(.discovered(info, Advertisement(), rssi: -40))
    }

    private func answer(_ number: Int) -> Event {
        .central(.peer(.blank, .valueRead(3, .success(PacketBuffer([UInt8(truncatingIfNeeded: number)])))))
    }

    private func room(_ peer: UUID, _ count: Int) -> Event { .central(.peer(peer, .writeCreditsReturned(count))) }

    private func write(_ number: UInt64, needsResponse: Bool) -> Event {
        .peripheral(.writeRequested(transaction: number, CentralInfo(), [], needsResponse: needsResponse))
    }

    @Test(
        "AB-G05: advertisers and writes without response give way at 257 events, and what waits for an answer does not"
    )
    func overflowDropsAdvertisersAndWriteCommandsFirst() {
        let many = (0..<257).map { heard(UInt16($0)) }
        var got = held(many)
        #expect(got.events == Array(many.dropFirst()))
        #expect(got.lost == 1)
        let commands = (0..<257).map { write(UInt64($0), needsResponse: false) }
        got = held(commands)
        #expect(got.events == Array(commands.dropFirst()))
        #expect(got.lost == 1)
        let requests = (0..<257).map { write(UInt64($0), needsResponse: true) }
        got = held(requests)
        #expect(got.events == requests)
        #expect(got.lost == 0)
        got = held(requests + [heard(1)])
        #expect(got.events == requests)
        #expect(got.lost == 1)
    }

    @Test(
        "AB-G05: where too much waits for answers the oldest goes that is no state"
    )
    func statesStay() {
        let answers = (0..<EventMailbox.maximumWaiting).map(answer)
        let got = held([.stateChanged(.poweredOn)] + answers)
        #expect(got.events == [.stateChanged(.poweredOn)] + answers.dropFirst())
        #expect(got.lost == 1)
        #expect(EventMailbox.maximumWaiting == 4_096)
        #expect(EventMailbox.capacity == 256)
    }

    @Test("behaviours 5.12, 7.43: room is added up for each peer, and not over a connection, an end, or a state")
    func roomIsOfAConnection() {
        let (a, b) = (peer(1), peer(2))
        #expect(held([room(a, 1), room(b, 2), room(a, 4), room(b, 8)]).events == [room(a, 5), room(b, 10)])
        let begins: [Event] = [
            .central(.peer(a, .connected(name: nil, maximumWriteWithoutResponse: 20))),
            .central(.peer(a, .disconnected(nil, isReconnecting: false, timestamp: nil))), .stateChanged(.poweredOn),
        ]
        for begin in begins {
            #expect(held([room(a, 1), begin, room(a, 2)]).events == [room(a, 1), begin, room(a, 2)], "\(begin)")
        }
        #expect(held([room(a, 1), heard(7), room(a, 2)]).events == [room(a, 3), heard(7)])
        let updates = [1, 2].map { Event.peripheral(.updateCreditsReturned($0)) }
        #expect(held([updates[0], .stateChanged(.poweredOn), updates[1]]).events.count == 3)
        let ended: [Event] = [.channel(ChannelID(1), .ended(nil)), .channel(ChannelID(1), .received([1]))]
        #expect(held(ended).events == ended)
    }

    @Test("behaviour 1.18: what is void is dropped, and the rest waits on in order")
    func voidEventsAreDroppedAndOthersKeepTheirOrder() {
        let (mailbox, sink) = (EventMailbox(nil), RecordingSink())
        for event in [heard(1), answer(1), heard(2), answer(2)] { mailbox.accept(event, on: loop) }
        mailbox.removeAll { if case .central(.discovered) = $0 { true } else { false } }
        #expect(mailbox.waiting == [answer(1), answer(2)])
        #expect(mailbox.attach(sink, on: loop) == 0)
        #expect(sink.taken == [answer(1), answer(2)])
    }
}

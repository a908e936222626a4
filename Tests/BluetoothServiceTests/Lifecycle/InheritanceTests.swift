import BluetoothTypes
import EventLoops
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService

/// Events that a process has received but not read pass to the next process.
@Suite struct InheritanceTests {
    private func restored(_ event: Event?) -> RestoredCentral? {
        if case .central(.willRestore(let state)) = event { state } else { nil }
    }

    @Test(
        "behaviours 10.4, 10.7, 10.10: events queued for a suspended app go to the next process, which is restored to the state before them"
    )
    func queuedEventsGoToTheNextProcess() throws {
        let apps = LivingApps(restores: true)
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        for value in 1...3 as ClosedRange<UInt8> { apps.measure([value]) }
        apps.sensor.take()
        apps.sensorApp.fallAsleep(in: apps.world)
        apps.strap.controller.loseLinks(.connectionTimeout)
        apps.world.run(.seconds(1))
        #expect(apps.central.take().isEmpty)
        #expect(apps.sensor.take().isEmpty)
        apps.centralApp.happened(.ended(.removedFromMemory))
        apps.sensorApp.happened(.ended(.removedFromMemory))
        apps.launchCentral()
        apps.launchSensor()
        apps.world.run(.seconds(1))
        let told = apps.central.take()
        let peer = try #require(restored(told.first)?.peers.first)
        #expect(peer.info.identifier == apps.peer)
        #expect(peer.maximumWriteWithoutResponse != nil)
        #expect(peer.services.flatMap(\.characteristics).contains { $0.isNotifying })
        #expect(told.dropFirst().first == .stateChanged(.poweredOn))
        #expect(told.compactMap(\.value) == [.success([1]), .success([2]), .success([3])])
        #expect(told.count == 6)
        #expect(told.last?.disconnection != nil)
        let events = apps.sensor.take()
        guard case .peripheral(.willRestore(let state)) = events.first else { return recordIssue("\(events)") }
        let left = state.subscriptions.map { Event.peripheral(.unsubscribed($0.central, $0.characteristic)) }
        #expect(left.count == 1)
        #expect(Array(events.dropFirst()) == [.stateChanged(.poweredOn)] + left)
    }

    /// A process that ends in the callback for a value.
    private final class Victim: Sendable {
        let read = Mutex<[Event]>([])
    }

    /// Launches the phone's app anew, and ends it in the callback for the first value.
    private func dieWithAValue(_ apps: LivingApps) -> [Event] {
        let (victim, app) = (Victim(), apps.phone.app("Collector", .central))
        let options = ManagerOptions(showsPowerAlert: true, restoreIdentifier: "collector")
        _ = app.openManager(.central, options: options, queue: SerialQueue("victim")) { event in
            victim.read.withLock { $0.append(event) }
            guard event.value != nil else { return }
            app.happened(.ended(.crashed))
            app.cut()
        }
        apps.sensorSends(3)
        return victim.read.withLock { $0 }
    }

    @Test("behaviours 10.4, 10.7: callbacks queued when a process dies in one of them go to the next process")
    func callbacksThatWereQueued() throws {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        apps.centralApp.happened(.ended(.crashed))
        let read = dieWithAValue(apps)
        #expect(read.count == 3)
        #expect(read.last?.value == .success([0]))
        apps.launchCentral()
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == [.success([1]), .success([2])])
    }

    @Test("behaviour 10.4: an unread write command goes to the next process, and a request is delivered once")
    func aWriteCommand() throws {
        let apps = LivingApps(restores: true)
        let handles = try apps.connect()
        let (point, note) = (try #require(handles[Example.controlPoint]), try #require(handles[Example.note]))
        apps.sensorApp.app.value.detach()
        apps.central.send(.writeWithoutResponse(peer: apps.peer, characteristic: point, value: [5]))
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: note))
        apps.world.run(.seconds(1))
        #expect(apps.sensor.take().isEmpty)
        apps.sensorApp.happened(.ended(.crashed))
        apps.launchSensor()
        apps.world.run(.seconds(1))
        let told = apps.sensor.take()
        #expect(told.compactMap(\.writeRequest).map { $0.writes.map(\.value) } == [[[5]]])
        #expect(told.compactMap(\.readRequest).count == 1)
        #expect(told.last?.readRequest != nil)
    }

    @Test(
        "behaviours 1.11, 3.6, 10.7: events voided by a change of the radio or by the app itself do not reach the next process"
    )
    func voidedEventsDoNotReachTheNextProcess() {
        let cancelled = Event.central(.peer(.blank, .disconnected(nil, isReconnecting: false, timestamp: nil)))
        #expect(UnreadEvents([value(1), .stateChanged(.poweredOn), value(2)]).events == [value(2)])
        #expect(UnreadEvents([value(1), cancelled, value(2)]).events == [value(2)])
    }

    @Test("behaviours 10.7, 10.12: subscribers are restored as they were before the unread events")
    func subscribersAreRestored() {
        let central = CentralInfo(identifier: .blank, maximumUpdateLength: 20)
        let (one, two) = (LocalAttributeID(1), LocalAttributeID(2))
        let all = [one, two].map { RestoredSubscription(central: central, characteristic: $0) }
        func before(_ unread: [PeripheralEvent], _ now: [RestoredSubscription]) -> [RestoredSubscription] {
            let state = Event.peripheral(.willRestore(RestoredPeripheral(services: [], subscriptions: now)))
            let news = UnreadEvents(unread.map { .peripheral($0) })
            guard case .peripheral(.willRestore(let then)) = news.before(state, ended: [:], info: { _ in nil }) else {
                return []
            }
            return then.subscriptions
        }
        #expect(before([.subscribed(central, two)], all) == [all[0]])
        #expect(before([.unsubscribed(central, two)], [all[0]]) == all)
        #expect(before([.unsubscribed(central, one), .subscribed(central, one)], all) == [all[1], all[0]])
    }

    /// A sink that reports how many of the received events have been read.
    private final class SlowSink: EventSink {
        private let state = Mutex<(taken: [Event], read: UInt64)>(([], 0))

        var taken: [Event] { state.withLock { $0.taken } }
        var eventsRead: UInt64? { state.withLock { $0.read } }
        func read(_ count: UInt64) { state.withLock { $0.read = count } }
        func accept(_ event: Event, on loop: any EventLoop) { state.withLock { $0.taken.append(event) } }
    }

    private let loop = VirtualEventLoop()

    private func value(_ number: Int) -> Event {
        .central(.peer(.blank, .valueNotified(AttributeHandle(1), [UInt8(truncatingIfNeeded: number)])))
    }

    private func mailbox(_ sink: SlowSink, _ events: [Event]) -> EventMailbox {
        let mailbox = EventMailbox(sink)
        for event in events { mailbox.accept(event, on: loop) }
        return mailbox
    }

    @Test("behaviour 10.7: a mailbox keeps delivered events until they are read, even if the sink is gone")
    func aMailboxKeepsWhatIsNotRead() {
        let sink = SlowSink()
        let mailbox = mailbox(sink, (0..<5).map(value))
        #expect(sink.taken.count == 5)
        #expect(mailbox.unread == (0..<5).map(value))
        #expect(!mailbox.hasReadNews)
        sink.read(2)
        mailbox.detach()
        mailbox.accept(value(5), on: loop)
        #expect(mailbox.unread == (2..<5).map(value))
        #expect(mailbox.waiting == [value(5)])
        #expect(mailbox.hasReadNews)
    }

    @Test("AB-G05: of events that a sink never reports as read, the oldest are dropped")
    func unreadEventsDropTheOldest() {
        let count = ServiceLimits.unreadEvents
        let sink = SlowSink()
        let mailbox = mailbox(sink, (0..<count + 3).map(value))
        #expect(mailbox.unread.count == count)
        #expect(mailbox.unread.first == value(3))
        sink.read(5)
        #expect(mailbox.unread.first == value(5))
    }

    @Test(
        "behaviours 10.4, 10.15: an event that kills one process after another is dropped, and the next process gets the rest"
    )
    func anEventThatProcessesDieWith() {
        var inheritance = Inheritance()
        var waiting = [value(1), value(2)]
        for death in 1...Inheritance.maximumDeaths {
            let (news, lost) = inheritance.processEnded(mailbox(SlowSink(), [.stateChanged(.poweredOn)] + waiting))
            let isLast = death == Inheritance.maximumDeaths
            #expect(lost == (isLast ? 1 : 0))
            #expect(news.events == (isLast ? [value(2)] : waiting))
            waiting = news.events
        }
        // A process that reads one of the events resets the count.
        for _ in 0..<3 * Inheritance.maximumDeaths {
            let sink = SlowSink()
            let mailbox = mailbox(sink, [.stateChanged(.poweredOn), value(2), value(3)])
            sink.read(2)
            #expect(inheritance.processEnded(mailbox).news.events == [value(3)])
        }
    }
}

extension LivingApps {
    /// The strap sends several measurements at once, and a second passes.
    fileprivate func sensorSends(_ count: Int) {
        for value in 0..<count {
            let octets = PacketBuffer([UInt8(value)])
            sensor.send(.updateValue(characteristic: Example.measurementID, value: octets, centrals: nil))
        }
        world.run(.seconds(1))
    }
}

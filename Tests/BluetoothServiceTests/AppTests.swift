import BluetoothTypes
import EventLoops
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService

/// An app lasts, whether or not somebody takes what its managers are told.
@Suite struct AppTests {
    private final class Sink: EventSink {
        private let events = Mutex<[Event]>([])
        var taken: [Event] { events.withLock { $0 } }
        func take(_ event: Event, on loop: any EventLoop) { events.withLock { $0.append(event) } }
    }

    /// The connection stays, and what comes meanwhile waits in order.
    @Test("behaviour 9.3: events that nobody takes yet are told later")
    func whatHappensWhileNobodyTakesEventsIsToldLater() throws {
        let pair = try Pair()
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(10))
        pair.central.take()
        let app = pair.central.connection.app.value
        app.detach()
        pair.central.send(.readRSSI(peer: pair.peer))
        pair.world.run(.seconds(10))
        #expect(pair.phone.system.links.count == 1)
        pair.strap.system.setPower(false)
        pair.world.run(.seconds(60))
        #expect(pair.central.take().isEmpty)
        let sink = Sink()
        app.attach(sink, to: pair.central.id)
        let told = sink.taken.compactMap { event -> String? in
            guard case .central(.peer(pair.peer, let event)) = event else { return nil }
            return switch event {
            case .rssiRead: "RSSI"
            case .disconnected: "disconnected"
            default: "\(event)"
            }
        }
        #expect(told == ["RSSI", "disconnected"])
        #expect(sink.taken.count == 2)
        // From now on without a detour.
        pair.phone.system.setPower(false)
        #expect(sink.taken.last == .stateChanged(.poweredOff) && pair.central.take().isEmpty)
    }

    @Test func aManagerThatIsClosedHasNothingToTell() throws {
        let pair = try Pair()
        let app = pair.central.connection.app.value
        app.detach()
        pair.central.close()
        let sink = Sink()
        app.attach(sink, to: pair.central.id)
        pair.phone.system.setPower(false)
        #expect(sink.taken.isEmpty)
    }

    /// Behaviour 1.16: the person is told once for each manager that wants it, and only when Bluetooth is off.
    @Test(
        "behaviour 1.16: a manager made while Bluetooth is off tells the person",
        arguments: [true, false],
        [true, false]
    )
    func aManagerMadeWhileBluetoothIsOffTellsThePerson(isOn: Bool, shows: Bool) throws {
        let world = TestWorld()
        let device = world.device("Phone")
        var notices: [SystemNotice] = []
        device.system.observers.add(.notices) { if case .noticed(let notice) = $0.happening { notices.append(notice) } }
        if !isOn { device.system.setPower(false) }
        let app = device.system.openApp(AppIdentity(name: "a\u{1B}[8mpp"))
        let options = ManagerOptions(showsPowerAlert: shows)
        for _ in 0..<2 {
            _ = app.openManager(.central, options: options, queue: SerialQueue("app")) { _ in }
        }
        world.run(.zero)
        device.system.setPower(true)
        device.system.setPower(false)
        world.run(.seconds(1))
        #expect(
            notices == (shows && !isOn ? [.poweredOff(app: "a\u{1B}[8mpp"), .poweredOff(app: "a\u{1B}[8mpp")] : [])
        )
        #expect(notices.allSatisfy { !$0.description.contains("\u{1B}") })
        withExtendedLifetime(app) {}
    }
}

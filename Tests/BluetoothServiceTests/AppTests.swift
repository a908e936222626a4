import BluetoothTypes
import EventLoops
import SampleMessages
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService

/// The service keeps an app's state while nothing consumes the events of its managers.
@Suite struct AppTests {
    /// The connection stays up, and events queue in order meanwhile.
    @Test("behaviour 9.3: events without a consumer are delivered later")
    func eventsWithoutConsumerAreDeliveredLater() throws {
        let pair = try ConnectedPair().linked()
        pair.world.run(.seconds(10))
        pair.central.take()
        let app = pair.central.connection.app.value
        app.detach()
        pair.central.send(.readRSSI(peer: pair.peer))
        pair.world.run(.seconds(10))
        #expect(pair.phone.system.links.all.count == 1)
        pair.strap.system.controllers.setPower(false)
        pair.world.run(.seconds(60))
        #expect(pair.central.take().isEmpty)
        let sink = RecordingSink()
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
        // From here on, events bypass the mailbox.
        pair.phone.system.controllers.setPower(false)
        #expect(sink.taken.last == .stateChanged(.poweredOff))
        #expect(pair.central.take().isEmpty)
    }

    @Test("behaviour 9.3: a new consumer of a suspended app's events gets them when the app runs")
    func newConsumersOfASuspendedAppGetEventsOnResume() throws {
        let apps = LivingApps()
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        let app = apps.centralApp.app.value
        app.detach()
        apps.measure([1])
        let sink = RecordingSink()
        app.attach(sink, to: apps.central.id)
        apps.measure([2])
        #expect(sink.taken.isEmpty)
        apps.centralApp.happened(.entered)
        #expect(sink.taken.compactMap(\.value) == [.success([1]), .success([2])])
        #expect(apps.central.take().isEmpty)
    }

    /// A queue that runs its closures only when the test asks.
    private final class LazyQueue: CallbackQueue {
        private let waiting = Mutex<[@Sendable () -> Void]>([])
        var isCurrent: Bool { false }
        var isRunning: Bool { false }

        func async(_ callback: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(callback) } }

        func work() -> Int {
            let callbacks = waiting.withLock { $0 }
            for callback in callbacks { callback() }
            return callbacks.count
        }
    }

    @Test("behaviour 9.14: events in flight to an app whose process ends are dropped", arguments: [false, true])
    func eventsInFlightToAnEndedProcessAreDropped(ends: Bool) {
        let world = ServiceWorld()
        let app = world.device("Phone").app("Collector")
        let queue = LazyQueue()
        let told = Atomic(0)
        _ = app.openManager(.central, options: ManagerOptions(), queue: queue) { _ in told.add(1, ordering: .relaxed) }
        world.run(.seconds(1))
        if ends {
            app.happened(.ended(.crashed))
            app.cut()
        }
        #expect(queue.work() == 1)
        #expect(told.load(ordering: .relaxed) == (ends ? 0 : 1))
    }

    @Test func aManagerThatIsClosedHasNothingToTell() throws {
        let pair = try ConnectedPair()
        let app = pair.central.connection.app.value
        app.detach()
        pair.central.close()
        let sink = RecordingSink()
        app.attach(sink, to: pair.central.id)
        pair.phone.system.controllers.setPower(false)
        #expect(sink.taken.isEmpty)
    }

    /// Behaviour 1.16: one alert for each manager that requests it, and only while Bluetooth is off.
    @Test(
        "behaviour 1.16: a manager created while Bluetooth is off shows an alert",
        arguments: [true, false],
        [true, false]
    )
    func aManagerMadeWhileBluetoothIsOffTellsThePerson(isOn: Bool, shows: Bool) throws {
        let world = ServiceWorld()
        let device = world.device("Phone")
        var notices: [SystemNotice] = []
        device.system.observers.add(.notices) { if case .noticed(let notice) = $0.content { notices.append(notice) } }
        if !isOn { device.system.controllers.setPower(false) }
        let app = device.system.openApp(AppIdentity(name: "a\u{1B}[8mpp"))
        let options = ManagerOptions(showsPowerAlert: shows)
        for _ in 0..<2 {
            _ = app.openManager(.central, options: options, queue: SerialQueue("app")) { _ in }
        }
        world.run(.zero)
        device.system.controllers.setPower(true)
        device.system.controllers.setPower(false)
        world.run(.seconds(1))
        #expect(
            notices == (shows && !isOn ? [.poweredOff(app: "a\u{1B}[8mpp"), .poweredOff(app: "a\u{1B}[8mpp")] : [])
        )
        #expect(notices.allSatisfy { !$0.description.contains("\u{1B}") })
        withExtendedLifetime(app) {}
    }

    @Test("behaviour 9.14: nothing left of an ended process reaches the service")
    func aConnectionThatIsCutIsSilent() {
        let world = ServiceWorld()
        let device = world.device("Phone")
        let manager = device.manager(.central)
        var seen: [String] = []
        device.system.observers.add([.managers, .messages, .misuse]) { seen.append("\($0.content)") }
        manager.connection.cut()
        manager.connection.noteMisuse("late")
        manager.send(.startScan(ScanRequest(services: nil)))
        let options = ManagerOptions(showsPowerAlert: false)
        _ = manager.connection.openManager(.central, options: options, queue: SerialQueue("late")) { _ in }
        if case .success = manager.connection.ask(.peripherals(identifiers: []), from: manager.id) {
            seen.append("answered")
        }
        manager.connection.closeManager(manager.id)
        world.run(.seconds(1))
        #expect(seen.isEmpty)
        #expect(device.system.centrals.count == 1)
    }
}

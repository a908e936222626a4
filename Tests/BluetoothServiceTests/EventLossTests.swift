import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService

/// When observers are told that events were lost.
@Suite struct EventLossTests {
    /// An app with a manager, and the numbers of lost events that observers are told.
    private final class Bench {
        let world = TestWorld()
        let phone: TestDevice
        let app: InProcessConnection
        let manager: TestManager
        private(set) var lost: [Int] = []

        init() {
            phone = world.device("Phone")
            app = phone.app("Collector", [.central, .peripheral])
            manager = phone.manager(.central, of: app, restoring: "one")
            phone.system.observers.add(.managers) { [weak self] in
                if case .eventsLost(let count) = $0.happening { self?.lost.append(count) }
            }
            world.run(.seconds(1))
        }

        /// The manager is told so many values.
        func tell(_ count: Int) {
            let value = Event.central(.peer(.blank, .valueNotified(3, [1])))
            let manager = phone.system.centrals.first?.manager
            for _ in 0..<count { manager?.tell(value, on: world.loop) }
        }
    }

    @Test(
        "AB-G05: events that a suspended app has no room for are counted when it runs, and none are where none are lost"
    )
    func ofASuspendedApp() {
        let bench = Bench()
        bench.app.happened(.left)
        bench.app.happened(.timeIsUp)
        bench.app.happened(.entered)
        #expect(bench.lost.isEmpty)
        let declaration = AppDeclaration(displayName: "Idle")
        let idle = bench.phone.system.openApp(AppIdentity(name: "idle"), declaring: declaration)
        let manager = bench.phone.manager(.central, of: idle)
        idle.happened(.left)
        idle.happened(.timeIsUp)
        let value = Event.central(.peer(.blank, .valueNotified(3, [1])))
        for _ in 0..<EventMailbox.capacity + 2 {
            bench.phone.system.centrals.last?.manager.tell(value, on: bench.world.loop)
        }
        #expect(bench.lost.isEmpty)
        idle.happened(.entered)
        #expect(bench.lost == [2])
        withExtendedLifetime(manager) {}
    }

    @Test("AB-G05: events that nobody takes are counted when somebody does, once")
    func ofADetachedApp() {
        let bench = Bench()
        let app = bench.app.app.value
        app.detach()
        bench.tell(3)
        app.attach(RecordingSink(), to: bench.manager.id)
        #expect(bench.lost.isEmpty)
        app.detach()
        bench.tell(EventMailbox.capacity + 5)
        app.attach(RecordingSink(), to: bench.manager.id)
        app.attach(RecordingSink(), to: bench.manager.id)
        #expect(bench.lost == [5])
    }

    @Test("behaviour 10.7, AB-G05: events lost for a process that crashed are counted, and none where it read all")
    func ofACrashedApp() {
        let bench = Bench()
        bench.app.happened(.ended(.crashed))
        bench.world.run(.seconds(1))
        #expect(bench.lost.isEmpty)
        let again = bench.phone.app("Collector", [.central, .peripheral])
        let manager = bench.phone.manager(.central, of: again, restoring: "one")
        bench.world.run(.seconds(1))
        #expect(bench.lost.isEmpty)
        again.app.value.detach()
        bench.tell(EventMailbox.capacity + 1)
        again.happened(.ended(.crashed))
        #expect(bench.lost == [1])
        withExtendedLifetime(manager) {}
    }
}

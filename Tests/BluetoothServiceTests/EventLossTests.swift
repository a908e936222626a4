import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService

/// When observers are told that events were lost.
@Suite struct EventLossTests {
    /// An app with a manager, and the numbers of lost events that observers are told.
    private final class WatchedApp {
        let world = ServiceWorld()
        let phone: TestDevice
        let app: InProcessConnection
        let manager: TestManager
        private(set) var lost: [Int] = []

        init() {
            phone = world.device("Phone")
            app = phone.app("Collector", [.central, .peripheral])
            manager = phone.manager(.central, of: app, restoring: "one")
            phone.system.observers.add(.managers) { [weak self] in
                if case .eventsLost(let count) = $0.content { self?.lost.append(count) }
            }
            world.run(.seconds(1))
        }

        /// The manager is told so many values.
        func report(_ count: Int) {
            let value = Event.central(.peer(.blank, .valueNotified(3, [1])))
            let manager = phone.system.centrals.first?.manager
            for _ in 0..<count { manager?.deliver(value, on: world.loop) }
        }
    }

    @Test(
        "AB-G05: events that a suspended app has no room for are counted when it runs, and none are where none are lost"
    )
    func ofASuspendedApp() {
        let watched = WatchedApp()
        watched.app.happened(.left)
        watched.app.happened(.timeIsUp)
        watched.app.happened(.entered)
        #expect(watched.lost.isEmpty)
        let declaration = AppDeclaration(displayName: "Idle")
        let idle = watched.phone.system.openApp(AppIdentity(name: "idle"), declaring: declaration)
        let manager = watched.phone.manager(.central, of: idle)
        idle.happened(.left)
        idle.happened(.timeIsUp)
        let value = Event.central(.peer(.blank, .valueNotified(3, [1])))
        for _ in 0..<EventMailbox.capacity + 2 {
            watched.phone.system.centrals.last?.manager.deliver(value, on: watched.world.loop)
        }
        #expect(watched.lost.isEmpty)
        idle.happened(.entered)
        #expect(watched.lost == [2])
        withExtendedLifetime(manager) {}
    }

    @Test("AB-G05: events that nobody takes are counted when somebody does, once")
    func ofADetachedApp() {
        let watched = WatchedApp()
        let app = watched.app.app.value
        app.detach()
        watched.report(3)
        app.attach(RecordingSink(), to: watched.manager.id)
        #expect(watched.lost.isEmpty)
        app.detach()
        watched.report(EventMailbox.capacity + 5)
        app.attach(RecordingSink(), to: watched.manager.id)
        app.attach(RecordingSink(), to: watched.manager.id)
        #expect(watched.lost == [5])
    }

    @Test("behaviour 10.7, AB-G05: events lost for a process that crashed are counted, and none where it read all")
    func ofACrashedApp() {
        let watched = WatchedApp()
        watched.app.happened(.ended(.crashed))
        watched.world.run(.seconds(1))
        #expect(watched.lost.isEmpty)
        let again = watched.phone.app("Collector", [.central, .peripheral])
        let manager = watched.phone.manager(.central, of: again, restoring: "one")
        watched.world.run(.seconds(1))
        #expect(watched.lost.isEmpty)
        again.app.value.detach()
        watched.report(EventMailbox.capacity + 1)
        again.happened(.ended(.crashed))
        #expect(watched.lost == [1])
        withExtendedLifetime(manager) {}
    }
}

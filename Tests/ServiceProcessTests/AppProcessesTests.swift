import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// The processes of connected apps, in virtual time: which ones are ended, and which are not.
@Suite struct AppProcessesTests {
    /// Fake processes with their start times, and the signals sent to them.
    private final class Processes: Sendable {
        let beginnings = Mutex<[Int32: String]>([:])
        let signals = Mutex<[String]>([])

        func table(user: UInt32 = ClientWorld.owner) -> ProcessTable {
            ProcessTable(user: user) { process in
                self.beginnings.withLock { $0[process] }
            } signal: { process, signal in
                self.signals.withLock { $0.append("\(process) \(signal)") }
            }
        }

        func take() -> [String] {
            signals.withLock { signals in
                defer { signals = [] }
                return signals
            }
        }
    }

    private let processes = Processes()

    private func app(_ world: ClientWorld, process: Int32 = 77, user: UInt32 = ClientWorld.owner) -> RawClient {
        let client = world.connect(user: user, process: process)
        client.greet("app", declaring: AppDeclaration(usageDescription: "To be tested"))
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "kept")
        client.send(.openManager(ManagerID(1), .central, options))
        _ = client.take()
        return client
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    /// Performs a command on the app, and returns whether it succeeded.
    private func perform(_ verb: AppVerb, _ world: ClientWorld) -> Bool {
        let isDone = Flag()
        world.with { system in
            system.perform(verb, on: "app") { result in
                if case .success = result { isDone.value.withLock { $0 = true } }
            }
        }
        world.world.run(for: .milliseconds(1))
        return isDone.value.withLock { $0 }
    }

    @Test("behaviour 10.16: an app that the user quits is notified, and its process ends, if necessary by force")
    func anAppThatThePersonEnds() {
        processes.beginnings.withLock { $0[77] = "100" }
        let world = ClientWorld(table: processes.table())
        let client = app(world)
        #expect(perform(.forceQuit, world))
        #expect(client.goodbye()?.contains("the user force-quit it") == true)
        #expect(client.isClosed)
        #expect(world.with { $0.apps.preservation.apps.isEmpty })
        #expect(world.clients.with { $0.callers.isEmpty })
        #expect(processes.take() == ["77 15"])
        world.world.run(for: .milliseconds(4_990))
        #expect(processes.take().isEmpty)
        world.world.run(for: .milliseconds(20))
        #expect(processes.take() == ["77 9"])
    }

    @Test("behaviour 10.15: an app removed from memory leaves preserved state")
    func anAppThatIsTerminated() {
        processes.beginnings.withLock { $0[77] = "100" }
        let world = ClientWorld(table: processes.table())
        let client = app(world)
        #expect(perform(.terminate, world))
        #expect(client.isClosed)
        #expect(world.with { $0.apps.preservation.apps.count } == 1)
        #expect(processes.take() == ["77 15"])
        processes.beginnings.withLock { $0[77] = nil }
        world.world.run(for: .seconds(10))
        #expect(processes.take().isEmpty)
    }

    @Test("AB-G05: a process that reused the number of an ended app is not ended")
    func aNumberThatWasTakenAgain() {
        processes.beginnings.withLock { $0[77] = "100" }
        let world = ClientWorld(table: processes.table())
        _ = app(world)
        processes.beginnings.withLock { $0[77] = "200" }
        #expect(perform(.forceQuit, world))
        world.world.run(for: .seconds(10))
        #expect(processes.take().isEmpty)
        // Nor is a process signalled that reuses the identifier during the grace period.
        let second = ClientWorld(table: processes.table())
        _ = app(second)
        #expect(perform(.forceQuit, second))
        processes.beginnings.withLock { $0[77] = "300" }
        second.world.run(for: .seconds(10))
        #expect(processes.take() == ["77 15"])
    }

    @Test("AB-G05: processes of another user, invisible processes and process 1 are never ended")
    func protectedProcessesAreNotEnded() {
        processes.beginnings.withLock { $0 = [0: "1", 1: "1", 77: "1", -5: "1", getpid(): "1"] }
        for (process, user) in [(0, 1_000), (1, 1_000), (-5, 1_000), (getpid(), 1_000), (77, 1_001)] {
            let world = ClientWorld(admitsOtherUsers: true, table: processes.table())
            let client = app(world, process: Int32(process), user: UInt32(user))
            #expect(perform(.forceQuit, world))
            #expect(client.isClosed)
            world.world.run(for: .seconds(10))
            #expect(processes.take().isEmpty, "\(process) \(user)")
        }
    }

    @Test("a process that has ended by itself gets no signal")
    func aProcessThatIsGone() {
        processes.beginnings.withLock { $0[77] = "100" }
        let world = ClientWorld(table: processes.table())
        app(world).die()
        world.world.run(for: .seconds(10))
        #expect(processes.take().isEmpty)
        #expect(world.with { $0.apps.preservation.apps.count } == 1)
    }

    @Test("an app without a usage description is reported as crashed, and its process continues")
    func anAppWithoutADescription() {
        processes.beginnings.withLock { $0[77] = "100" }
        let world = ClientWorld(table: processes.table())
        world.with { $0.apps.permissions.rule = { _ in .notDetermined } }
        let client = world.connect(process: 77)
        client.greet("app", declaring: AppDeclaration())
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        #expect(client.goodbye()?.contains("crashed") == true)
        #expect(client.isClosed)
        world.world.run(for: .seconds(10))
        #expect(processes.take().isEmpty)
    }

    @Test("behaviour 9.1: only an app in a unit of its own is frozen while suspended")
    func anAppThatIsFrozen() {
        processes.beginnings.withLock { $0[77] = "100" }
        for (unit, isFrozen) in [("app-harald-app.service", true), ("app-harald-other.service", false), (nil, false)] {
            var table = processes.table()
            table.unit = { $0 == 77 ? unit : nil }
            let loop = SimulatedWorld(seed: 1).loop
            let units = LoopBound(StubUnits(), loop: loop)
            let world = ClientWorld(table: table, units: units)
            let client = app(world)
            func asked() -> [String] {
                world.with { _ in
                    while !units.value.pending.isEmpty { units.value.finish() }
                    return units.value.take()
                }
            }
            #expect(asked() == ["thaw app-harald-*.service"])
            #expect(perform(.suspend, world))
            #expect(asked() == (isFrozen ? ["freeze app-harald-app.service"] : []))
            #expect(perform(.foreground, world))
            #expect(asked() == (isFrozen ? ["thaw app-harald-app.service"] : []))
            // A frozen process could not end in good order.
            #expect(perform(.suspend, world))
            #expect(perform(.forceQuit, world))
            #expect(client.isClosed)
            #expect(asked().last == (isFrozen ? "thaw app-harald-app.service" : nil))
            #expect(processes.take() == ["77 15"])
        }
    }

    @Test("AB-G05: a process of another user is not frozen, whatever its unit is called")
    func anAppOfAnotherUserIsNotFrozen() {
        processes.beginnings.withLock { $0[77] = "100" }
        var table = processes.table()
        // The unit has the name that the user's app would have here.
        table.unit = { _ in LaunchCommand.unit(of: AppIdentity(name: "app", owner: 2_000)) }
        let units = LoopBound(StubUnits(), loop: SimulatedWorld(seed: 1).loop)
        let world = ClientWorld(admitsOtherUsers: true, table: table, units: units)
        let client = app(world, user: 2_000)
        world.with { system in for app in system.managers.apps { system.perform(.suspend, on: app.name) { _ in } } }
        world.world.run(for: .seconds(1))
        #expect(!client.isClosed)
        #expect(world.with { _ in units.value.take() } == ["thaw app-harald-*.service"])
    }

    @Test("behaviour 9.1: events of a suspended process queue in order until it is opened")
    func eventsOfSuspendedProcessesQueueInOrder() {
        let world = ClientWorld(table: processes.table())
        let client = app(world)
        #expect(perform(.suspend, world))
        for isOn in [false, true] {
            world.phone.setPower(isOn)
            world.world.run(for: .seconds(1))
        }
        #expect(client.take().isEmpty)
        #expect(!client.isClosed)
        #expect(perform(.foreground, world))
        #expect(client.events() == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    @Test("apps are known by their Info.plist and by their own declarations, unless another user made them")
    func appsThatCanBeLaunched() throws {
        let directory = try TemporaryDirectory()
        let lists: [(String, [String: Any])] = [
            ("a", ["CFBundleIdentifier": "com.example.a", "HaraldLaunch": ["/bin/a", "x"]]),
            ("b", ["CFBundleIdentifier": "com.example.b"]),
            ("c", ["CFBundleIdentifier": "com.example.a", "HaraldLaunch": ["/bin/c"]]),
            ("d", ["HaraldLaunch": ["/bin/d"]]),
        ]
        for (name, list) in lists {
            try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
            let octets = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            try octets.write(to: URL(fileURLWithPath: directory.file("\(name)/Info.plist")))
        }
        try directory.write("\u{1}\u{2}\u{3}", to: "e/Info.plist")
        #expect(InstalledApps(directory: directory.path).commands() == ["com.example.a": ["/bin/a", "x"]])
        #expect(InstalledApps(directory: directory.file("nowhere")).commands().isEmpty)

        let world = ClientWorld(admitsOtherUsers: true, table: processes.table())
        var declaration = AppDeclaration()
        declaration.launchCommand = ["/bin/mine"]
        world.connect().greet("mine", declaring: declaration)
        world.connect(user: 1_001).greet("theirs", declaring: declaration)
        #expect(world.with { $0.appsStatus.installed } == ["mine"])
    }

    @Test("a process that is not connected to the service cannot be ended by it, and the error says so")
    func endOfAnUnconnectedProcess() {
        let world = ClientWorld()
        let errors = Mutex<[ServiceError?]>([])
        world.clients.with {
            $0.processes.end(AppIdentity(name: "belt"), .forceQuit) { result in
                let error: ServiceError? = if case .failure(let error) = result { error } else { nil }
                errors.withLock { $0.append(error) }
            }
        }
        let told = errors.withLock { $0 }
        #expect(told.map { $0?.code } == [.core(.operationNotSupported)])
        #expect(told.first??.reason?.contains("the process of \"belt\" is not connected") == true)
    }
}

import EventLoops
import Foundation
import SampleMessages
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// Programs that the service launches for apps, in virtual time.
@Suite struct AppLaunchTests {
    private final class Results: Sendable {
        private let kept = Mutex<[String]>([])

        func add(_ result: Result<Void, ServiceError>) {
            let text =
                switch result {
                case .success: "done"
                case .failure(let error): error.reason ?? "failed"
                }
            kept.withLock { $0.append(text) }
        }

        var all: [String] { kept.withLock { $0 } }
    }

    /// A world whose service has received launch commands from apps.
    private func makeWorld(_ names: [String] = ["app"]) -> ClientWorld {
        let world = ClientWorld()
        for name in names {
            var declaration = AppDeclaration(usageDescription: "To be tested", backgroundModes: .central)
            declaration.launchCommand = ["/opt/\(name)", "-x"]
            let client = world.connect()
            client.greet(name, declaring: declaration)
            client.send(
                .openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false, restoreIdentifier: "kept"))
            )
            client.die()
        }
        return world
    }

    private func launch(_ name: String, _ world: ClientWorld, _ results: Results) {
        world.with { system in system.perform(.launch, on: name) { results.add($0) } }
        world.world.run(for: .milliseconds(1))
    }

    private func launchForEvent(_ name: String, _ world: ClientWorld) {
        let app = AppIdentity(name: name, owner: ClientWorld.owner)
        world.with { $0.apps.preservation.launcher?.launch(app, restoring: RestoreIdentifiers(centrals: ["kept"])) }
        world.world.run(for: .milliseconds(1))
    }

    @Test("an app that is launched again before it has connected has one process, and comes to the front")
    func aUserLaunchesAnAppTwice() {
        let (world, results) = (makeWorld(), Results())
        launchForEvent("app", world)
        launch("app", world, results)
        launch("app", world, results)
        #expect(results.all == ["done", "done"])
        #expect(paths(world).count == 1)
        let app = AppIdentity(name: "app", owner: ClientWorld.owner)
        #expect(!world.clients.with { $0.processes.isLaunchedInBackground(app) })
        world.programs.with { $0.end(.exited(status: 3)) }
        launch("app", world, results)
        #expect(paths(world).count == 2)
    }

    private func paths(_ world: ClientWorld) -> [String] { world.programs.with { $0.paths } }

    @Test("a user's launch starts the program with the service's socket, and completes when the process connects")
    func aUserLaunchesAnApp() {
        let (world, results) = (makeWorld(), Results())
        launch("app", world, results)
        let program = world.programs.with { $0.runs.first?.program }
        #expect(program?.path == "/opt/app")
        #expect(program?.arguments == ["-x"])
        #expect(results.all == ["done"])
        #expect(program?.environment["HARALD_SERVICE"] == "/nowhere" && program?.environment["HARALD_RESTORE"] != nil)
        #expect(world.log.all.contains { $0.contains("launched app as process 100") })
        world.programs.with { $0.end(.exited(status: 3)) }
        #expect(world.log.all.contains { $0.contains("the process launched for app has ended: exit status 3") })
        launch("other", world, results)
        #expect(results.all.last?.contains("no app \"other\" can be launched") == true)
        #expect(paths(world).count == 1)
    }

    @Test("a program that cannot be started is reported with its path and the reason, to the user and in the log")
    func aProgramThatCannotBeStarted() {
        let (world, results) = (makeWorld(), Results())
        world.programs.with { $0.refusal = ENOENT }
        launch("app", world, results)
        #expect(results.all.last?.contains("\"app\" cannot be launched: /opt/app: No such file or directory") == true)
        launchForEvent("app", world)
        let troubles = world.with { $0.status.troubles.map(\.text) }
        #expect(troubles.contains { $0.contains("cannot be launched: /opt/app: No such file") }, "\(troubles)")
        // The failed launch has no lasting effect.
        world.programs.with { $0.refusal = nil }
        launch("app", world, results)
        #expect(results.all.last == "done")
    }

    @Test(
        "AB-G05: a program whose file does not load delays no other, and programs that are starting are bounded"
    )
    func aProgramThatDoesNotLoad() {
        let names = (1...AppProcesses.maximumLaunched).map { "app\($0)" }
        let (world, results) = (makeWorld(["app", "slow"] + names), Results())
        world.programs.with { $0.isStuck = true }
        launch("slow", world, results)
        world.programs.with { $0.isStuck = false }
        launch("app", world, results)
        #expect(paths(world) == ["/opt/slow", "/opt/app"])
        #expect(results.all == ["done"])
        for name in names { launch(name, world, results) }
        #expect(paths(world).count == AppProcesses.maximumLaunched)
        #expect(results.all.suffix(2).allSatisfy { $0.contains("64 programs") })
        world.programs.with { programs in for _ in 0..<2 { programs.end() } }
        launch(names[names.count - 1], world, results)
        #expect(results.all.last == "done")
    }

    @Test(
        "behaviour 10.4: a process launched for an event connects in the background, even before its launcher has returned"
    )
    func aProcessThatConnectsAtOnce() {
        let world = makeWorld()
        world.programs.with { $0.isStuck = true }
        launchForEvent("app", world)
        let client = world.connect()
        client.greet("app", declaring: AppDeclaration(usageDescription: "To be tested", backgroundModes: .central))
        let phases = world.with { $0.apps.running.map(\.phase) }
        #expect(phases == [.background])
        // The next process was not launched by the service.
        client.die()
        world.connect().greet("app", declaring: AppDeclaration(usageDescription: "To be tested"))
        #expect(world.with { $0.apps.running.map(\.phase) } == [.foreground])
    }

    @Test("an app of another user is not launched")
    func anAppOfAnotherUser() {
        let world = makeWorld()
        world.with { system in
            guard let processes = system.apps.preservation.launcher as? AppProcesses else { return }
            processes.launch(
                AppIdentity(name: "app", owner: 7),
                ["/opt/app"],
                restoring: RestoreIdentifiers(),
                inBackground: true
            ) { result in
                guard case .failure(.ofAnotherUser(7)) = result else { return recordIssue("\(result)") }
            }
        }
        #expect(paths(world).isEmpty)
    }
}

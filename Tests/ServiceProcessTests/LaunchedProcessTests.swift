import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// Processes that the service has launched, from their start to their end.
@Suite struct LaunchedProcessTests {
    private let app = AppIdentity(name: "app", owner: ClientWorld.owner)

    /// A world that keeps something of an app, whose process is gone.
    private func makeWorld(table: ProcessTable? = nil) -> ClientWorld {
        let world = ClientWorld(table: table)
        var declaration = AppDeclaration(usageDescription: "To be tested", backgroundModes: .central)
        declaration.launchCommand = ["/opt/app"]
        let client = world.connect()
        client.greet("app", declaring: declaration)
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "kept")
        client.send(.openManager(ManagerID(1), .central, options))
        world.world.run(for: .seconds(60))
        client.die()
        return world
    }

    private func launch(_ world: ClientWorld) {
        world.with { [app] in
            $0.apps.preservation.launcher?.launch(app, restoring: RestoreIdentifiers(centrals: ["kept"]))
        }
        world.world.run(for: .milliseconds(1))
    }

    /// Whether a process of the app counts as launched in the background. It does so once.
    private func isExpected(_ world: ClientWorld) -> Bool {
        let app = app
        return world.clients.with { $0.processes.isLaunchedInBackground(app) }
    }

    @Test(
        "behaviours 10.15, 10.25: a program that ends before it connects was an early end, unless another one of its app runs"
    )
    func endsBeforeItConnects() {
        let world = makeWorld()
        let app = app
        func earlyEnds() -> Int { world.with { $0.apps.preservation.relaunches.state(of: app)?.earlyEnds ?? 0 } }
        // As an event does that launches it.
        world.with { $0.apps.preservation.apps[app]?.startProcess() }
        world.world.run(for: .milliseconds(1))
        launch(world)
        #expect(world.programs.with { $0.runs.count } == 2)
        world.programs.with { $0.end() }
        #expect(earlyEnds() == 0)
        #expect(isExpected(world))
        world.programs.with { $0.end() }
        #expect(earlyEnds() == 1)
    }

    @Test(
        "behaviour 10.4: a program that has ended is not waited for, and whoever connects then was opened by the user"
    )
    func isNotWaitedFor() {
        let world = makeWorld()
        launch(world)
        world.programs.with { $0.end(.exited(status: 0)) }
        #expect(!isExpected(world))
        world.programs.with { $0.refusal = 2 }
        launch(world)
        #expect(!isExpected(world))
    }

    @Test("AB-G07: the process that was launched for an app, or runs in its unit, is known as such, and no other one")
    func whichIsTheLaunchedOne() {
        let executables = ProcessTable(
            user: ClientWorld.owner,
            beginning: { "\($0)" },
            unit: { $0 == 300 ? LaunchCommand.unit(of: AppIdentity(name: "app")) : nil },
            executable: { "/bin/\($0)" },
            signal: { _, _ in }
        )
        let world = makeWorld(table: executables)
        launch(world)
        func program(_ process: Int32, _ identity: AppIdentity) -> AppProgram {
            world.clients.with { clients in
                clients.processes.program(
                    of: Caller(process: process, user: identity.owner, group: 0),
                    as: identity
                )
            }
        }
        #expect(program(100, app) == AppProgram("/bin/100", isLaunched: true))
        #expect(program(300, app) == AppProgram("/bin/300", isLaunched: true))
        #expect(program(200, app) == AppProgram("/bin/200"))
        #expect(program(100, AppIdentity(name: "other", owner: app.owner)) == AppProgram("/bin/100"))
        #expect(program(300, AppIdentity(name: "app", owner: 7)) == AppProgram("/bin/300"))
        #expect(program(0, app) == AppProgram())
        #expect(program(1, app) == AppProgram())
    }

    @Test("a process is marked by its number and its beginning, and neither process 1 nor one that is gone")
    func marks() {
        let table = ProcessTable(user: 1, beginning: { $0 == 9 ? nil : "7" }, signal: { _, _ in })
        #expect(table.mark(2) == ProcessMark(number: 2, beginning: "7"))
        for process in [1, 0, -5, 9] as [Int32] { #expect(table.mark(process) == nil, "\(process)") }
    }
}

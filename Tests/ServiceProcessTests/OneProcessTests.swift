import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// A managed app is a single process (behaviour 9.16) of one identified program (AB-G07).
@Suite struct OneProcessTests {
    private final class Processes: Sendable {
        let running = Mutex<Set<Int32>>([77, 78])
        let executables = Mutex<[Int32: String]>([:])

        var table: ProcessTable {
            ProcessTable(
                user: ClientWorld.owner,
                beginning: { process in self.running.withLock { $0.contains(process) ? "\(process)" : nil } },
                executable: { process in self.executables.withLock { $0[process] } },
                signal: { process, _ in self.running.withLock { _ = $0.remove(process) } }
            )
        }
    }

    private let processes = Processes()
    private let scan = ScanRequest(services: [0x180D])

    private func open(
        _ world: ClientWorld,
        process: Int32,
        user: UInt32 = ClientWorld.owner,
        declaring declaration: AppDeclaration = AppDeclaration(backgroundModes: .central)
    ) -> RawClient {
        let client = world.connect(user: user, process: process)
        client.send(Opening.app(Hello(AppIdentity(name: "app"), declaring: declaration)).encoded())
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "kept")
        client.send(.openManager(ManagerID(1), .central, options))
        return client
    }

    private var restored: [Event] {
        [.central(.willRestore(RestoredCentral(scan: scan, peers: []))), .stateChanged(.poweredOn)]
    }

    @Test("behaviour 9.16: a second process of an app is refused, and the first comes to the foreground")
    func aSecondProcess() {
        let world = ClientWorld(table: processes.table)
        let first = open(world, process: 77)
        first.send(.request(ManagerID(1), .central(.startScan(scan))))
        world.with { $0.perform(.suspend, on: "app") { _ in } }
        world.world.run(for: .seconds(1))
        #expect(world.with { $0.apps.running.map(\.phase) } == [.suspended])
        for declaration in [AppDeclaration(), .unmanaged] {
            let second = open(world, process: 78, declaring: declaration)
            let text = second.goodbye() ?? ""
            #expect(text.contains("already running as process 77"))
            #expect(text.contains("harald app terminate"))
            #expect(second.isClosed)
            #expect(!first.isClosed)
            #expect(world.with { $0.apps.running.map(\.phase) } == [.foreground])
        }
        #expect(world.with { $0.centrals.count } == 1)
        #expect(world.clients.with { $0.callers.map(\.process) } == [77])
        // The second process may connect once the first has ended.
        world.with { $0.perform(.terminate, on: "app") { _ in } }
        world.world.run(for: .seconds(1))
        #expect(open(world, process: 78).events() == restored)
    }

    @Test(
        "behaviour 9.16: an app of another user is a different app, and unmanaged processes do not exclude each other"
    )
    func otherApps() {
        let world = ClientWorld(admitsOtherUsers: true, table: processes.table)
        _ = open(world, process: 77)
        #expect(open(world, process: 78, user: 1_001).events() == [.stateChanged(.poweredOn)])
        #expect(world.with { $0.apps.running.count } == 2)
    }

    @Test(
        "behaviours 9.16, 10.15: a crashed process whose connection ends late gives way to the next one",
        arguments: MemoryLine.Moment.allCases
    )
    func aCrashThatIsSeenLate(moment: MemoryLine.Moment) {
        let world = ClientWorld(moment: moment, table: processes.table)
        let first = open(world, process: 77)
        first.send(.request(ManagerID(1), .central(.startScan(scan))))
        _ = first.take()
        processes.running.withLock { _ = $0.remove(77) }
        let second = open(world, process: 78)
        #expect(second.events() == restored)
        // Closing the first connection does not end the app.
        first.die()
        world.world.run(for: .seconds(20))
        #expect(!second.isClosed)
        #expect(world.with { $0.apps.running.map(\.phase) } == [.foreground])
        #expect(world.with { $0.centrals.filter(\.scans).count } == 1)
        #expect(world.with { $0.apps.preservation.apps.isEmpty })
    }

    @Test("behaviour 9.20: a process of a kind without Bluetooth is refused, with the reason")
    func processesWithoutBluetooth() {
        let world = ClientWorld(table: processes.table)
        let widget = ProcessKind.appExtension(point: "com.apple.widgetkit-extension")
        let refused = open(world, process: 77, declaring: AppDeclaration(kind: widget))
        #expect(refused.goodbye()?.contains("\"com.apple.widgetkit-extension\" has no Bluetooth") == true)
        let transport = ProcessKind.appExtension(point: ProcessKind.transportExtensionPoint)
        let client = open(world, process: 78, declaring: AppDeclaration(kind: transport))
        #expect(client.take().first == .welcome(Welcome()))
        #expect(world.with { $0.apps.running.map(\.phase) } == [.background])
    }

    @Test("behaviour 9.16: a process that reconnects before its old connection has ended continues")
    func aProcessThatConnectsAnew() {
        let world = ClientWorld(table: processes.table)
        let first = open(world, process: 77)
        first.send(.request(ManagerID(1), .central(.startScan(scan))))
        let second = open(world, process: 77)
        #expect(second.events() == restored)
        #expect(first.isClosed)
        #expect(world.with { $0.apps.running.count } == 1)
    }

    @Test("behaviour 9.16: a process that the service cannot see is not assumed to have ended")
    func aProcessThatCannotBeSeen() {
        let world = ClientWorld(table: processes.table)
        let first = open(world, process: 0)
        let second = open(world, process: 0)
        #expect(second.goodbye()?.contains("is already running, and") == true)
        #expect(!first.isClosed)
        first.die()
        #expect(open(world, process: 0).take().first == .welcome(Welcome()))
    }

    @Test("behaviour 10.26: of two unmanaged processes with one restore identifier, the first is restored, once")
    func unmanagedProcesses() {
        let world = ClientWorld(table: processes.table)
        var declaration = AppDeclaration.unmanaged
        declaration.launchCommand = ["/bin/app"]
        let clients = [77, 78].map { open(world, process: $0, declaring: declaration) }
        for client in clients { client.send(.request(ManagerID(1), .central(.startScan(scan)))) }
        #expect(world.with { $0.apps.running.count } == 2)
        clients[1].die()
        #expect(world.with { $0.apps.preservation.apps.isEmpty })
        clients[0].die()
        #expect(world.with { $0.apps.preservation.apps.values.map { $0.managers.count } } == [1])
        #expect(open(world, process: 79, declaring: declaration).events() == restored)
        #expect(open(world, process: 80, declaring: declaration).events() == [.stateChanged(.poweredOn)])
    }

    @Test("AB-G07: the program of a process is read from the kernel while the process exists")
    func programs() {
        processes.executables.withLock { $0 = [77: "/bin/a", 78: "/bin/b", 79: "/bin/c"] }
        let world = ClientWorld(table: processes.table)
        let first = open(world, process: 77)
        #expect(world.with { $0.status.apps.map(\.executable) } == ["/bin/a"])
        first.send(.request(ManagerID(1), .central(.startScan(scan))))
        first.die()
        // Another program with that name starts without the state, which the log and the status report.
        #expect(open(world, process: 78).events() == [.stateChanged(.poweredOn)])
        let troubles = world.with { $0.status.troubles.map(\.text) }
        #expect(troubles.count == 1 && troubles[0].contains("/bin/a") && troubles[0].contains("/bin/b"))
        // Process 79 has ended before the kernel responds.
        world.with { $0.perform(.forceQuit, on: "app") { _ in } }
        world.world.run(for: .seconds(1))
        _ = open(world, process: 79)
        #expect(world.with { $0.status.apps.map(\.executable) } == [nil])
    }

    @Test("the kernel provides the program of a process")
    func thisProgram() throws {
        let own = try #require(ProcessTable.ofKernel.executable(getpid()))
        #expect(own.hasPrefix("/"))
        #expect(ProcessTable.ofKernel.executable(-1) == nil)
        #expect(ProcessTable.executable(inLink: "/bin/a (deleted)") == "/bin/a")
        #expect(ProcessTable.executable(inLink: "/bin/a (deleted) ") == "/bin/a (deleted) ")
    }

    @Test("a failed launch appears in the status with its reason")
    func aLaunchThatFails() {
        let world = ClientWorld(table: processes.table)
        var declaration = AppDeclaration(backgroundModes: .central)
        declaration.launchCommand = ["relative"]
        for command in [["relative"], []] {
            declaration.launchCommand = command
            let app = open(world, process: 77, declaring: declaration)
            app.die()
            let identity = AppIdentity(name: "app", owner: ClientWorld.owner)
            world.clients.with { $0.processes.launch(identity, restoring: RestoreIdentifiers()) }
        }
        let troubles = world.with { $0.status.troubles }
        #expect(troubles.count == 2 && troubles.allSatisfy { $0.text.contains("cannot be launched") }, "\(troubles)")
        #expect(troubles.allSatisfy { $0.weight == "warning" })
    }
}

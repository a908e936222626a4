import EventLoops
import Foundation
import HCI
import HCITransports
import Logging
import SampleMessages
import ServiceMessages
import StandInKernel
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService
@testable import ServiceProcess

@Suite struct EmbeddedServiceTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A machine without Bluetooth, like most test machines.
    private static let noBluetooth = ControllerFinder(KernelAdapters(calls: StandInKernel(openError: EAFNOSUPPORT)))

    /// The first event of a manager on `connection`.
    private func firstState(_ connection: any ServiceConnection) async -> Event {
        await withCheckedContinuation { continuation in
            let isFirst = Atomic(true)
            _ = connection.openManager(
                .central,
                options: ManagerOptions(),
                queue: SerialQueue("app")
            ) { event in
                if isFirst.exchange(false, ordering: .relaxed) { continuation.resume(returning: event) }
            }
        }
    }

    @Test(arguments: [nil, "", "usb:nowhere", "serial:", "tcp:nowhere", "nonsense"])
    func withoutAControllerBluetoothIsUnsupported(controller: String?) async {
        let connection = EmbeddedService.make(controller: controller, finder: Self.noBluetooth, logger: Self.silent)
        #expect(await firstState(connection) == .stateChanged(.unsupported))
        guard case .failure(let error) = connection.ask(.peripherals(identifiers: []), from: ManagerID(1)) else {
            return recordIssue("a query was answered without a controller")
        }
        #expect(error.code == .core(.operationNotSupported))
    }

    @Test func firstFreeAdapterIsTheDefault() async {
        let kernel = StandInKernel([0: .init(isUp: true, isTaken: true), 1: .init(address: 2)])
        let finder = ControllerFinder(KernelAdapters(calls: kernel, sysfs: "/nowhere", proc: "/nowhere"))
        let connection = EmbeddedService.make(controller: nil, finder: finder, logger: Self.silent)
        #expect(connection is InProcessConnection)
        // The first packet is a Reset, which only the owner of the adapter may send.
        while kernel.state.withLock({ $0.written.isEmpty }) { await Task.yield() }
        #expect(kernel.state.withLock { $0.written.first } == [1, 3, 0x0C, 0])
        // The Reset gets no response. A slow machine may have given up and retried by now.
        #expect(kernel.takeAsked().prefix(2) == ["down hci1", "bind hci1"])
    }

    @Test func withoutAnAdapterTheLogSaysWhatToDo() async {
        let log = LogLines()
        let finder = ControllerFinder(KernelAdapters(calls: StandInKernel(), sysfs: "/nowhere", proc: "/nowhere"))
        let connection = EmbeddedService.make(
            controller: nil,
            finder: finder,
            logger: Logger(label: "test") { _ in log }
        )
        #expect(!(connection is InProcessConnection))
        #expect(log.all.contains { $0.contains("no Bluetooth adapter") && $0.contains("HARALD_CONTROLLER=tcp:") })
    }

    @Test("an unreachable controller leaves Bluetooth unsupported")
    func anUnreachableControllerLeavesItUnsupported() async {
        // Port 9 is the discard service, if anything listens there.
        let connection = EmbeddedService.make(controller: "tcp:127.0.0.1:9", logger: Self.silent)
        #expect(await firstState(connection) == .stateChanged(.unsupported))
    }

    @Test func anAppKeepsACaptureWhereTheEnvironmentSaysSo() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("app.btsnoop")
        let connection = EmbeddedService.make(
            controller: "tcp:127.0.0.1:9",
            capture: path,
            logger: Self.silent
        )
        #expect(await firstState(connection) == .stateChanged(.unsupported))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // The command that the host sent to the missing controller.
        let records = try CaptureReader.records(of: [UInt8](FileManager.default.contents(atPath: path) ?? Data()))
        #expect(records.first?.packet == HCIPacket(Reset()))
    }

    @Test("a failing capture is reported, and Bluetooth works without it")
    func aCaptureThatCannotBeKeptIsTold() async {
        let log = LogLines()
        let connection = EmbeddedService.make(
            controller: "tcp:127.0.0.1:9",
            capture: "/nowhere/at/all.btsnoop",
            logger: Logger(label: "test") { _ in log }
        )
        #expect(connection is InProcessConnection)
        #expect(log.all.contains { $0.contains("HARALD_CAPTURE") && $0.contains("folder that exists") })
        _ = await firstState(connection)
    }

    @Test("a program uses the service in its environment, then the user's, then the machine's, then its own")
    func aProgramFindsItsService() {
        let environment = ["HARALD_SERVICE": "/s", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .socket("/s"))
        // The explicit setting applies whether or not a service listens there.
        #expect(ServiceFinder.place(environment: environment) { _ in false } == .socket("/s"))
        let usual = ["XDG_RUNTIME_DIR": "/run/user/7", "HARALD_SERVICE": ""]
        #expect(ServiceFinder.place(environment: usual) { _ in true } == .socket("/run/user/7/harald/service"))
        #expect(
            ServiceFinder.place(environment: usual) { $0 == "/run/harald/service" } == .socket("/run/harald/service")
        )
        #expect(ServiceFinder.place(environment: usual) { _ in false } == .embedded)
        #expect(ServiceFinder.place(environment: [:]) { $0 == "/run/harald/service" } == .socket("/run/harald/service"))
    }

    @Test("a controller named in the environment takes precedence over a service that the environment does not name")
    func aNamedControllerWins() {
        var environment = ["HARALD_CONTROLLER": "tcp:127.0.0.1:9100", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .embedded)
        // An invalid one is refused by the embedded service, rather than ignored.
        environment["HARALD_CONTROLLER"] = "banana"
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .embedded)
        // A program that the service launches finds it, whatever else the service has inherited.
        environment["HARALD_SERVICE"] = "/s"
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .socket("/s"))
        environment = ["HARALD_CONTROLLER": "", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .socket("/run/user/7/harald/service"))
    }

    @Test func bondsAreWhereTheUsersStateIs() {
        #expect(
            EmbeddedService.bondDirectory(environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/harald/bonds"
        )
        #expect(EmbeddedService.bondDirectory(environment: ["HOME": "/h"]) == "/h/.local/state/harald/bonds")
        #expect(
            EmbeddedService.bondDirectory(environment: ["XDG_STATE_HOME": "s", "HOME": "/h"])
                == "/h/.local/state/harald/bonds"
        )
    }
}

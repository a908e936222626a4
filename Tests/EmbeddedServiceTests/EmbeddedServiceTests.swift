import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Logging
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import EmbeddedService

@Suite struct EmbeddedServiceTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The first thing that a manager on `connection` is told.
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

    @Test(arguments: [nil, "", "hci0", "usb", "serial:/dev/ttyUSB0", "tcp:nowhere", "nonsense"])
    func withoutAControllerBluetoothIsUnsupported(controller: String?) async {
        let connection = EmbeddedService.make(controller: controller, logger: Self.silent)
        #expect(await firstState(connection) == .stateChanged(.unsupported))
        guard case .failure(let error) = connection.ask(.peripherals(identifiers: []), from: ManagerID(1)) else {
            Issue.record("a query was answered without a controller")
            return
        }
        #expect(error.code == .core(.operationNotSupported))
    }

    @Test("a controller that cannot be reached leaves Bluetooth unsupported")
    func anUnreachableControllerLeavesItUnsupported() async {
        // Port 9 discards, if anything listens there at all.
        let connection = EmbeddedService.make(controller: "tcp:127.0.0.1:9", logger: Self.silent)
        #expect(await firstState(connection) == .stateChanged(.unsupported))
    }

    @Test func anAppKeepsACaptureWhereTheEnvironmentSaysSo() async throws {
        let path = NSTemporaryDirectory() + "harald-\(UUID()).btsnoop"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let connection = EmbeddedService.make(
            controller: "tcp:127.0.0.1:9",
            capture: path,
            logger: Self.silent
        )
        #expect(await firstState(connection) == .stateChanged(.unsupported))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // What the host has said to the controller that is not there.
        var reader = try BTSnoopReader(PacketBuffer([UInt8](FileManager.default.contents(atPath: path) ?? Data())))
        #expect(try reader.next()?.packet == HCIPacket(Reset()))
    }

    @Test("a capture that cannot be kept is told and is no reason to do without Bluetooth")
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

    @Test("a program finds the service that it is told of, then the user's, then the machine's, then none but its own")
    func aProgramFindsItsService() {
        let environment = ["HARALD_SERVICE": "/s", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(ServiceFinder.place(environment: environment) { _ in true } == .socket("/s"))
        // Whether or not somebody listens: that is the one it is to use.
        #expect(ServiceFinder.place(environment: environment) { _ in false } == .socket("/s"))
        let usual = ["XDG_RUNTIME_DIR": "/run/user/7", "HARALD_SERVICE": ""]
        #expect(ServiceFinder.place(environment: usual) { _ in true } == .socket("/run/user/7/harald/service"))
        #expect(
            ServiceFinder.place(environment: usual) { $0 == "/run/harald/service" } == .socket("/run/harald/service")
        )
        #expect(ServiceFinder.place(environment: usual) { _ in false } == .embedded)
        #expect(ServiceFinder.place(environment: [:]) { $0 == "/run/harald/service" } == .socket("/run/harald/service"))
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

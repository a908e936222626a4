import Administration
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceMessages
import ServiceProcess

/// The service that a command is an app of.
struct ClientHost: Sendable {
    typealias Devices = @Sendable () throws(ToolError) -> [DeviceStatus]

    let connection: any ServiceConnection
    /// The facts about devices, as of the time when the command began.
    let facts: DeviceFacts
    /// Returns the devices that the service or system knows. A process may ask a service either before it becomes an
    /// app or once it is one, but not in between.
    let devices: Devices
    /// Ends what belongs to the command alone.
    let stop: @Sendable () -> Void

    /// A service in another process.
    static func service(_ path: String, known: [DeviceStatus], devices: @escaping Devices) -> ClientHost {
        let (watch, loop) = (ServiceWatch(), NIOEventLoop())
        let connection = RemoteConnection(
            hello: Hello(AppIdentity(name: ToolRights.toolName), declaring: .unmanaged),
            isLaunched: false,
            loop: loop,
            logger: Logger(label: "harald.service") { _ in ServiceWatchLog(watch: watch) }
        ) {
            WatchedDialer(dialer: SocketDialer(path: path, loop: loop), watch: watch)
        }
        let facts = DeviceFacts(known: known, place: .service(path, watch))
        return ClientHost(connection: connection, facts: facts, devices: devices, stop: {})
    }

    /// A system of the command's own.
    static func system(
        _ system: LoopBound<BluetoothSystem>,
        controller: String,
        prompter: LoopBound<TerminalPrompter>?
    ) -> ClientHost {
        let connection = system.with { $0.openApp(AppIdentity(name: ToolRights.toolName)) }
        let facts = DeviceFacts(place: .controller(controller)) { identifier in
            system.with { $0.address(of: identifier) }
        }
        let devices: Devices = { () throws(ToolError) in system.with { $0.deviceStatus } }
        return ClientHost(connection: connection, facts: facts, devices: devices) {
            system.stop { $0.leave($1) }
            withExtendedLifetime((prompter, connection)) {}
        }
    }
}

/// Facts about devices that apps do not get.
struct DeviceFacts: Sendable {
    /// The service or the controller that a command uses.
    enum Place: Sendable {
        case service(String, ServiceWatch)
        case controller(String)
        /// A simulated system, in tests.
        case simulation
    }

    /// The devices that the service knew when the command began. Connected ones do not advertise, so that no scan finds
    /// them.
    var known: [DeviceStatus] = []
    var place = Place.simulation
    var address: @Sendable (UUID) -> BluetoothAddress? = { _ in nil }
}

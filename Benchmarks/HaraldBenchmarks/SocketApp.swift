import BluetoothService
import CoreBluetooth
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceProcess
import ServiceSocket

/// The process at the other end of a socket: this program once more, with an app or many. It says on its standard output how far it
/// is, and takes on its standard input what to wait for.
enum SocketApp {
    /// The first argument of such a process.
    static let argument = "--socket-app"

    /// Runs one, for as long as its parent is there.
    static func run(_ arguments: [String]) {
        guard arguments.count == 2, let count = Int(arguments[1]) else { return }
        let loop = NIOEventLoop()
        let connections = (0..<max(count, 1)).map { number in
            RemoteConnection(
                path: arguments[0],
                hello: Hello(AppIdentity(name: "app \(number)")),
                loop: loop,
                logger: Logger(label: "app")
            )
        }
        if count == 0 {
            follow(connections[0])
        } else {
            let apps = connections.map { ServiceLocator.$current.withValue($0) { IdleApp() } }
            for app in apps { app.isOn.wait(for: 1) }
            say("ready")
            _ = readLine()
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private static func follow(_ connection: RemoteConnection) {
        let app = ServiceLocator.$current.withValue(connection) { FollowingApp() }
        app.ready.wait(for: 1)
        say("ready")
        while let line = readLine() {
            if line == "delays" {
                say(app.delays.map(String.init).joined(separator: " "))
            } else if let count = Int(line) {
                app.notified.wait(for: count)
                say("\(count)")
            }
        }
    }
}

/// An app that has a manager, and nothing else.
private final class IdleApp: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: made once, and the counter is atomic.
    let isOn = Tally()
    private var manager: CBCentralManager?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "idle"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { isOn.add() }
}

import BluetoothTypes
import CLinux
import CoreBluetooth
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceMessages
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The process at the other end of a socket: this program with one or many apps. It prints its progress on standard
/// output, and reads on standard input what to wait for.
enum SocketApp {
    /// The first argument of such a process.
    static let argument = "--socket-app"

    /// Runs the apps until the parent process ends.
    static func run(_ arguments: [String]) {
        guard arguments.count == 2 else { return }
        if arguments[1] == "flood" { return flood(arguments[0]) }
        guard let count = Int(arguments[1]) else { return }
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

    /// Sends requests as fast as the socket accepts them, and reads the events.
    static func flood(_ path: String) {
        guard var address = sockaddr_un(path: path) else { return }
        let descriptor = socket(AF_UNIX, harald_SOCK_STREAM, 0)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else { return }
        Thread.detachNewThread {
            var octets = [UInt8](repeating: 0, count: 1 << 16)
            while read(descriptor, &octets, octets.count) > 0 {}
        }
        let scan = ScanRequest(services: nil, allowsDuplicates: true)
        let opening = [
            FrameParser.frame(Opening.app(Hello(AppIdentity(name: "flood"))).encoded()),
            FrameParser.frame(
                AppMessage.openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false)).encoded()
            ),
        ]
        let requests = [
            AppMessage.request(ManagerID(1), .central(.startScan(scan))),
            AppMessage.query(ManagerID(1), number: 1, .peripherals(identifiers: [])),
            AppMessage.request(ManagerID(1), .central(.stopScan)),
        ].map { FrameParser.frame($0.encoded()) }
        _ = opening.map { write(descriptor, $0.bytes, $0.count) }
        say("ready")
        let burst = (0..<500).flatMap { requests[$0 % requests.count].bytes }
        var rest = burst[...]
        while true {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
            if rest.isEmpty { rest = burst[...] }
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

/// An app that has a manager and does nothing else.
private final class IdleApp: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: set once, and the counter is atomic.
    let isOn = Tally()
    private var manager: CBCentralManager?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "idle"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { isOn.add() }
}

import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import Logging
import ServiceMessages
import ServiceProcess

/// The rows of a service with its apps in other processes, each next to the same with the app inside.
extension HaraldBenchmarks {
    private static let samples = 2_000

    static func sockets() throws {
        let inside = DelegatePair(on: NIOEventLoop())
        let embedded = throughput(of: inside) { count, ahead in
            ahead()
            inside.follower.notified.wait(for: count)
        }
        let near = delay(of: inside) { inside.follower.delays }
        let host = try SocketHost()
        let before = residentSize()
        let crowd = try host.start(apps: 100)
        let after = residentSize()
        crowd.end()
        let app = try host.start(apps: 0)
        let outside = throughput(of: host.pair) { count, ahead in
            app.report("\(count)")
            ahead()
            app.wait(for: "\(count)")
        }
        let far = delay(of: host.pair) { app.ask("delays").split(separator: " ").compactMap { Int($0) } }
        row("notifications, HCI to a delegate in the service's process", "\(Int(embedded)) /s")
        row("notifications, HCI to a delegate in another process", "\(Int(outside)) /s")
        row(
            "what the socket adds to one notification, median of \(samples)",
            String(format: "%.1f µs, of %.1f µs", Double(far - near) / 1e3, Double(far) / 1e3)
        )
        row(
            "memory of a service for 100 apps with a manager each",
            String(format: "%.1f kB an app, %.1f MB without", Double(after - before) / 1e5, Double(before) / 1e6)
        )
        row(
            "a thread that is woken over a bare socket, median of \(samples)",
            String(format: "%.1f µs", Double(BareSocket.delay(samples: samples)) / 1e3)
        )
        let flood = try host.start("flood")
        let flooded = delay(of: host.pair) { app.ask("delays").split(separator: " ").compactMap { Int($0) } }
        row(
            "the same while another process asks for things as fast as it can",
            String(format: "%.1f µs, %.2f times as long", Double(flooded) / 1e3, Double(flooded) / Double(far))
        )
        flood.end()
        app.end()
    }

    /// Notifications per second, with as many in flight as a process may leave in its socket.
    private static func throughput(of pair: DelegatePair, waiting: (_ count: Int, _ ahead: () -> Void) -> Void)
        -> Double
    {
        let (count, burst) = (200_000, 1_000)
        var (best, sent) = (0.0, pair.received)
        for _ in 0..<3 {
            let start = DispatchTime.now().uptimeNanoseconds
            send(burst, over: pair)
            for _ in 0..<count / burst {
                sent += burst
                waiting(sent) { send(burst, over: pair) }
            }
            sent += burst
            waiting(sent) {}
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            best = max(best, Double(count + burst) / seconds)
        }
        return best
    }

    private static func send(_ count: Int, over pair: DelegatePair) {
        for _ in 0..<count / 100 {
            pair.parts.with { parts in
                guard let packet = parts.lines[0].lastNotification else { preconditionFailure("one has come") }
                for _ in 0..<100 { parts.lines[0].receive(packet) }
            }
        }
    }

    /// The median time of single notifications from HCI to the delegate, in nanoseconds.
    private static func delay(of pair: DelegatePair, delays: () -> [Int]) -> Int {
        for _ in 0..<samples {
            pair.parts.with { parts in
                guard let packet = parts.lines[0].lastNotification else { preconditionFailure("one has come") }
                var bytes = packet.bytes
                let now = DispatchTime.now().uptimeNanoseconds
                for index in 0..<8 {
                    bytes[bytes.count - 8 + index] = UInt8(truncatingIfNeeded: now >> (8 * UInt64(index)))
                }
                parts.lines[0].receive(HCIPacket(packet.kind, bytes))
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        let sorted = delays().suffix(samples).sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The resident size of this process, in octets.
    private static func residentSize() -> Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// A pair whose phone accepts apps in other processes.
private final class SocketHost {
    let pair: DelegatePair
    private let path = NSTemporaryDirectory() + "harald-benchmark-\(getpid())/service"
    private let socket: ListeningSocket
    private let listener: LoopBound<ServiceListener>

    init() throws {
        let loop = NIOEventLoop()
        let pair = DelegatePair(on: loop, follows: false)
        let socket = try ListeningSocket(path: path, mode: 0o600, group: nil)
        let path = path
        listener = pair.parts.with { parts in
            let clients = ServiceClients(
                of: parts.phone,
                socket: path,
                loop: loop,
                access: AccessRule(owner: getuid()),
                programs: KernelPrograms(loop: loop),
                logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
            )
            let listener = ServiceListener(clients, loop: loop)
            listener.listen(on: socket.descriptor) { _ in }
            return LoopBound(listener, loop: loop)
        }
        (self.pair, self.socket) = (pair, socket)
    }

    /// Starts a process with this number of idle apps, or with one subscribed app for 0.
    func start(apps: Int) throws -> Child {
        let child = try start("\(apps)")
        if apps == 0 { pair.shorten() }
        return child
    }

    /// Starts a process with another task.
    func start(_ what: String) throws -> Child {
        let child = try Child([SocketApp.argument, path, what])
        child.wait(for: "ready")
        return child
    }

    deinit { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
}

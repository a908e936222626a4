import CLinux
import Dispatch
import EventLoops
import Foundation
import HCITransports
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The rows of the transports to a controller: the time per packet, and the part that this process computes. The
/// controller is another process, whose time does not count.
extension HaraldBenchmarks {
    static func transports() throws {
        try row(of: .tcp, "tcp")
        try socketRows()
        try row(of: .h4, "serial, H4, on a terminal")
        try row(of: .h5, "serial, three-wire, on a terminal")
        // The kernel's adapters and USB, where virtual ones exist, as in the machine of Interop.
        try row(of: .adapter, "hci, the user channel of a virtual adapter")
        try row(of: .dongle, "usb, libusb and a dongle in software")
    }

    private static func socketRows() throws {
        let path = NSTemporaryDirectory() + "harald-line-\(getpid())"
        try row(of: .unix, "unix", path)
        unlink(path)
        let child = try Child([FarEnd.argument, FarEnd.Way.unix.rawValue, path])
        _ = child.next()
        // The measurement uses standard input and output.
        let kept = (dup(STDIN_FILENO), dup(STDOUT_FILENO))
        guard let socket = connected(to: path) else { preconditionFailure("nobody listens at \(path)") }
        fflush(nil)
        dup2(socket, STDIN_FILENO)
        dup2(socket, STDOUT_FILENO)
        close(socket)
        let costs = measure(.standard)
        dup2(kept.0, STDIN_FILENO)
        dup2(kept.1, STDOUT_FILENO)
        show("standard input and output", costs)
        child.end()
        unlink(path)
    }

    private static func connected(to path: String) -> Int32? {
        guard var address = sockaddr_un(path: path) else { return nil }
        let descriptor = socket(AF_UNIX, harald_SOCK_STREAM, 0)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? descriptor : nil
    }

    private static func row(of way: FarEnd.Way, _ name: String, _ arguments: String...) throws {
        let child = try Child([FarEnd.argument, way.rawValue] + arguments)
        defer { child.end() }
        guard let address = try? ControllerAddress(child.next()) else {
            return FileHandle.standardError.write(Data("not measured, since there is none here: \(name)\n".utf8))
        }
        show(name, measure(address))
    }

    private static func measure(_ address: ControllerAddress) -> [Cost] {
        let loop = NIOEventLoop()
        let done = Tally()
        let end = loop.make { NearEnd(address, loop: loop, done: done) }
        var asked = 0
        func cost(of packets: Int, _ begin: @escaping @Sendable (NearEnd, Int) -> Void) -> Cost {
            Cost(of: packets) {
                loop.submit { end.with { begin($0, packets) } }
                asked += 1
                done.wait(for: asked)
            }
        }
        // Meanwhile, the transport opens and the adapter appears.
        loop.submit { end.with { $0.reset() } }
        asked += 1
        done.wait(for: asked)
        let first = cost(of: 100) { $0.ping($1) }
        // A few seconds for each, even on an emulated transport; every packet is acknowledged.
        let packets = min(max(2e6 / first.microseconds, 160), 4_000)
        let count = Int(packets) / LineTalk.window * LineTalk.window
        let costs = [
            cost(of: count) { $0.send($1) }, cost(of: count) { $0.take($1) }, cost(of: count / 4) { $0.ping($1) },
        ]
        loop.submitAndWait { end.with { $0.close() } }
        return costs
    }

    private static func show(_ name: String, _ costs: [Cost]) {
        for (what, cost) in zip(["to", "from", "a command and its event, with"], costs) {
            let data = what.hasPrefix("a") ? "" : "\(LineTalk.payload) octets "
            row("\(data)\(what) a controller: \(name)", cost.description)
        }
    }
}

/// The cost per packet; the best of three measurements.
private struct Cost: CustomStringConvertible {
    var microseconds = Double.infinity
    /// The processor time of all threads of this process, in microseconds.
    var computed = Double.infinity

    init(of count: Int, _ body: () -> Void) {
        for _ in 0..<3 {
            let (start, before) = (DispatchTime.now().uptimeNanoseconds, Self.processorTime)
            body()
            microseconds = min(microseconds, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e3 / Double(count))
            computed = min(computed, (Self.processorTime - before) / Double(count))
        }
    }

    var description: String { String(format: "%.1f µs, of which computed %.1f µs", microseconds, computed) }

    private static var processorTime: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
    }
}

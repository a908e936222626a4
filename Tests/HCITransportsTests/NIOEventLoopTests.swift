import Dispatch
import EventLoops
import Glibc
import HCITransports
import NIOCore
import Synchronization
import TestBasics
import Testing

@Suite struct NIOEventLoopTests {
    /// A callback queue that runs callbacks immediately, so that their place among the tasks shows.
    private struct Here: CallbackQueue {
        var isCurrent: Bool { false }
        func async(_ callback: @escaping @Sendable () -> Void) { callback() }
    }

    /// Returns a loop that is blocked while `body` runs.
    private func held(_ body: (NIOEventLoop) -> Void) -> NIOEventLoop {
        let (loop, go) = (NIOEventLoop(), DispatchSemaphore(value: 0))
        loop.submit { go.wait() }
        body(loop)
        go.signal()
        return loop
    }

    /// Connects to a TCP port of this machine, and returns the socket.
    private func connection(to port: Int) -> Int32? {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafeBytes(of: &address) { octets in
            octets.withMemoryRebound(to: sockaddr.self) {
                connect(socket, $0.baseAddress, socklen_t(octets.count)) == 0
            }
        }
        return isConnected ? socket : nil
    }

    @Test func concurrentTasksShareOneTime() {
        let record = Notes<String>()
        let times = Mutex<Set<Instant>>([])
        let loop = held { loop in
            for number in 0..<3 {
                loop.submit {
                    record.add("task \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    loop.deliver(on: Here()) { record.add("callback \(number)") }
                    loop.execute { record.add("due \(number)") }
                }
            }
        }
        loop.submitAndWait { record.add("waited for") }
        #expect(
            record.all == [
                "task 0", "task 1", "task 2", "due 0", "due 1", "due 2", "callback 0", "callback 1", "callback 2",
                "waited for",
            ]
        )
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func waitingFollowsEarlierSubmissions() {
        let (record, count) = (Notes<String>(), 10_000)
        let loop = NIOEventLoop()
        for number in 0..<count {
            loop.submit { record.add("\(number)") }
            if number % 1_000 == 999 { loop.submitAndWait { #expect(record.all.count == number + 1) } }
        }
        #expect(record.all == (0..<count).map { "\($0)" })
        loop.shutDown()
    }

    @Test("AB-G05: reports that a transport makes inside a task run after it, in order, at the same time")
    func reportsInsideATaskRunAfterIt() {
        let record = Notes<String>()
        let times = Mutex<Set<Instant>>([])
        let loop = NIOEventLoop()
        loop.submit {
            loop.execute { record.add("due") }
            for number in 0..<3 {
                loop.arrive {
                    record.add("report \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    if number == 0 { loop.arrive { record.add("report 3") } }
                }
            }
            times.withLock { _ = $0.insert(loop.now) }
            record.add("end of the task")
        }
        loop.submitAndWait {}
        #expect(record.all == ["end of the task", "due", "report 0", "report 1", "report 2", "report 3"])
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func submissionsOfATaskRunInALaterTurn() {
        let record = Notes<String>()
        let loop = NIOEventLoop()
        loop.submitAndWait {
            loop.submit { record.add("submitted") }
            loop.execute { record.add("due") }
        }
        loop.submitAndWait {}
        #expect(record.all == ["due", "submitted"])
        loop.shutDown()
    }

    /// Tasks that are always due, as on a machine that is too slow for them.
    private final class EndlessTasks: Sendable {
        /// Far more tasks than a loop runs before it looks at its sockets; a loop that never does ends after them.
        private static let limit = 5_000_000
        private let loop: NIOEventLoop
        private let count = Atomic(0)
        private let isStopped = Atomic(false)
        private let isOver = DispatchSemaphore(value: 0)

        init(on loop: NIOEventLoop) { self.loop = loop }

        func begin() { loop.submit { self.next() } }
        func stop() { isStopped.store(true, ordering: .relaxed) }

        /// Returns whether the tasks ended because they were stopped.
        func wereStopped() -> Bool {
            isOver.wait()
            return count.load(ordering: .relaxed) < Self.limit
        }

        private func next() {
            let isLast = count.add(1, ordering: .relaxed).newValue == Self.limit
            if isLast || isStopped.load(ordering: .relaxed) { isOver.signal() } else { loop.execute { self.next() } }
        }
    }

    @Test("a loop whose tasks never end, as on a starved machine, still serves its sockets")
    func socketsGetTheirTurn() throws {
        let loop = NIOEventLoop()
        let tasks = EndlessTasks(on: loop)
        let servers = Mutex<[LoopBound<TCPServer>]>([])
        let isOpen = DispatchSemaphore(value: 0)
        loop.submit {
            TCPServer.listen(port: 0, loop: loop, onConnection: { _ in tasks.stop() }) { result in
                if case .success(let server) = result {
                    servers.withLock { $0.append(LoopBound(server, loop: loop)) }
                }
                isOpen.signal()
            }
        }
        isOpen.wait()
        let server = try #require(servers.withLock { $0.first })
        let port = loop.waitFor { server.value.port }
        tasks.begin()
        let client = try #require(connection(to: port))
        #expect(tasks.wereStopped())
        close(client)
        loop.shutDown()
    }

    @Test("AB-G05: reports keep their order when a loop is behind with its tasks")
    func reportsKeepTheirOrderBehindABacklog() {
        let record = Notes<String>()
        let loop = NIOEventLoop()
        let isOver = DispatchSemaphore(value: 0)
        loop.submit {
            // More than one turn.
            for _ in 0..<1_000 { loop.execute {} }
            loop.arrive { record.add("first") }
            // Comes between two turns.
            loop.nio.execute {
                loop.arrive {
                    record.add("second")
                    isOver.signal()
                }
            }
        }
        isOver.wait()
        #expect(record.all == ["first", "second"])
        loop.shutDown()
    }

    @Test func submissionsComeBetweenTwoTurns() {
        let loop = NIOEventLoop()
        let tasks = EndlessTasks(on: loop)
        tasks.begin()
        loop.submitAndWait { tasks.stop() }
        #expect(tasks.wereStopped())
        loop.shutDown()
    }
}

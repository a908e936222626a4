import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Threads that a virtual clock waits for while they run. May be used from any thread.
///
/// The kernel knows exactly whether a thread runs: one that another thread wakes counts as running before the call that
/// wakes it returns.
final class ThreadWatch: Sendable {
    private struct Watched {
        /// The state of the thread in the kernel's file system, proc(5).
        let file: Int32
        /// Whether it ran for too long. It is waited for again once it was seen waiting.
        var isGivenUp = false
    }

    /// The number of threads that the clock waits for. It passes further ones by.
    static let maximumThreads = 256
    private static let pause: useconds_t = 50
    /// How long to wait for a thread; by default as long as for work on queues.
    private let limit: DispatchTimeInterval
    private let threads = Mutex<[ThreadIdentity: Watched]>([:])
    private let count = Atomic(0)

    var haveAny: Bool { count.load(ordering: .acquiring) > 0 }

    init(limit: DispatchTimeInterval = .seconds(2)) {
        self.limit = limit
    }

    deinit {
        threads.withLock { for thread in $0.values { close(thread.file) } }
    }

    func addCurrent() {
        let file = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let isAdded = threads.withLock { threads in
            guard threads.count < Self.maximumThreads, threads[.current] == nil else { return false }
            threads[.current] = Watched(file: file)
            count.store(threads.count, ordering: .releasing)
            return true
        }
        if !isAdded { close(file) }
    }

    func removeCurrent() {
        threads.withLock { threads in
            if let thread = threads.removeValue(forKey: .current) { close(thread.file) }
            count.store(threads.count, ordering: .releasing)
        }
    }

    /// Waits until no thread runs, or `isInterrupted` holds.
    func settle(unless isInterrupted: () -> Bool) {
        let end = DispatchTime.now() + limit
        while true {
            let areRunning = threads.withLock { threads in
                let isLate = DispatchTime.now() > end
                var areRunning = false
                for (key, thread) in threads {
                    let isRunning = Self.runs(thread.file)
                    threads[key]?.isGivenUp = isRunning && (thread.isGivenUp || isLate)
                    areRunning = areRunning || isRunning && !thread.isGivenUp && !isLate
                }
                return areRunning
            }
            guard areRunning, !isInterrupted() else { return }
            usleep(Self.pause)
        }
    }

    /// Whether a thread runs, could run, or waits for a disk.
    private static func runs(_ file: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            let length = pread(file, buffer.baseAddress, buffer.count, 0)
            guard length > 0 else { return false }
            // The state follows the name, which is in parentheses and may contain some.
            guard let end = buffer.prefix(length).lastIndex(of: UInt8(ascii: ")")), end + 2 < length else {
                return false
            }
            return buffer[end + 2] == UInt8(ascii: "R") || buffer[end + 2] == UInt8(ascii: "D")
        }
    }
}

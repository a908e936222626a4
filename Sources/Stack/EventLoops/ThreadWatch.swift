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
/// wakes it returns. A thread that waits for a lock runs too: whoever has the lock, such as another thread's `malloc`, goes
/// on when a core is free, and the thread with it.
final class ThreadWatch: Sendable {
    private struct Watched {
        /// The state of the thread in the kernel's file system, and the system call that it waits in, proc(5).
        let state: Int32
        let call: Int32
        /// Whether it ran for too long. It is waited for again once it was seen waiting.
        var isGivenUp = false

        /// Closes the files. One that could not be opened has the number -1.
        func release() { for file in [state, call] where file >= 0 { close(file) } }

        /// Whether the thread runs, could run, or waits for a disk or a lock.
        var isRunning: Bool {
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
                let length = pread(state, buffer.baseAddress, buffer.count, 0)
                // The state follows the name, which is in parentheses and may contain some.
                guard length > 0, let end = buffer.prefix(length).lastIndex(of: UInt8(ascii: ")")), end + 2 < length
                else { return false }
                return switch buffer[end + 2] {
                case UInt8(ascii: "R"), UInt8(ascii: "D"): true
                default: waitsForLock(buffer)
                }
            }
        }

        /// Whether the thread waits in futex(2) for a lock: of glibc, whose locks have the value 2 while somebody waits, or
        /// one with priority inheritance, such as `Mutex`. Semaphores, conditions and queues wait otherwise.
        private func waitsForLock(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
            let length = call < 0 ? 0 : pread(call, buffer.baseAddress, buffer.count, 0)
            guard length > 0 else { return false }
            // Number, address, operation, value.
            let words = buffer.prefix(length).split(separator: UInt8(ascii: " "), maxSplits: 4)
            guard words.count > 3, words[0].elementsEqual(ThreadWatch.futex.utf8) else { return false }
            let (operation, value) = (Self.hexadecimal(words[2]), Self.hexadecimal(words[3]))
            // Without the flag for private ones.
            return switch operation & 0x7F {
            case 0: value == 2
            case 6, 13: true
            default: false
            }
        }

        private static func hexadecimal(_ text: Slice<UnsafeMutableRawBufferPointer>) -> UInt {
            UInt(String(decoding: text.dropFirst(2), as: UTF8.self), radix: 16) ?? 0
        }
    }

    /// The number of futex(2).
    #if arch(x86_64)
        private static let futex = "202"
    #else
        private static let futex = "98"
    #endif

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
        threads.withLock { for thread in $0.values { thread.release() } }
    }

    func addCurrent() {
        let files = ["stat", "syscall"].map { open("/proc/thread-self/\($0)", O_RDONLY | O_CLOEXEC) }
        let thread = Watched(state: files[0], call: files[1])
        let isAdded = threads.withLock { threads in
            guard thread.state >= 0, threads.count < Self.maximumThreads, threads[.current] == nil else { return false }
            threads[.current] = thread
            count.store(threads.count, ordering: .releasing)
            return true
        }
        if !isAdded { thread.release() }
    }

    func removeCurrent() {
        threads.withLock { threads in
            threads.removeValue(forKey: .current)?.release()
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
                    let isRunning = thread.isRunning
                    threads[key]?.isGivenUp = isRunning && (thread.isGivenUp || isLate)
                    areRunning = areRunning || isRunning && !thread.isGivenUp && !isLate
                }
                return areRunning
            }
            guard areRunning, !isInterrupted() else { return }
            usleep(Self.pause)
        }
    }
}

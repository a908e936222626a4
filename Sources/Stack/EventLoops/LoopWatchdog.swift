#if DEBUG
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Detects loop handlers that block their loop, in debug builds.
    ///
    /// With `HARALD_WATCHDOG=20` in the environment, both kinds of loop measure the CPU time of each task, which is
    /// independent of the machine's load. The watchdog reports a handler that takes more than 20 ms on standard error,
    /// and the process exits with status 1. App callbacks and ``EventLoop/submitAndWait(_:)`` calls from other threads
    /// do not count, because they are not handlers of the loop.
    package enum LoopWatchdog {
        /// The environment variable that enables the watchdog. Its value is the limit in milliseconds.
        package static let variable = "HARALD_WATCHDOG"

        private static let allowances: [(handler: String, limit: Duration, reason: String)] = [
            (
                "ServiceProcess.SocketLine", .milliseconds(200),
                "tests restore the largest state that fits in a message"
            ),
            ("ServiceProcess.SocketDialer", .milliseconds(200), "a test sends 20 MiB as soon as it is connected"),
            ("HCI.InMemoryTransport", .milliseconds(200), "a burst of packets arrives in one task"),
            ("ServiceProcessTests.MemoryLine", .milliseconds(200), "delivers all held messages in one task"),
        ]

        private struct Closure {
            let run: () -> Void
        }

        private static let limit: Duration? = getenv(variable).flatMap { Int(String(cString: $0)) }.map {
            .milliseconds($0)
        }
        private static let offenders = Mutex<Set<String>>([])

        /// Runs a task of a loop, measuring it if the watchdog is enabled.
        @inline(__always)
        package static func run(_ task: @escaping () -> Void) {
            guard let limit else { return task() }
            measure(task, limit: limit, report)
        }

        /// Runs a task, and calls `report` with its name and CPU time if that exceeds `limit`.
        package static func measure(
            _ task: @escaping () -> Void,
            limit: Duration,
            _ report: (String, Duration) -> Void
        ) {
            let start = ProcessorTime.begin()
            task()
            // A task never has more processor time than wall-clock time.
            guard ProcessorTime.wall() - start > limit.nanoseconds else { return }
            let time = Duration.nanoseconds(ProcessorTime.used(since: start))
            guard time > limit else { return }
            report(name(of: task), time)
        }

        private static func report(_ handler: String, _ time: Duration) {
            guard !allowances.contains(where: { handler.contains($0.handler) && time <= $0.limit }) else { return }
            let isFirst = offenders.withLock { offenders in
                if offenders.isEmpty { atexit { _exit(1) } }
                return offenders.insert(handler).inserted
            }
            guard isFirst else { return }
            let text = "error: the loop handler \(handler) took \(time) of CPU time; the limit is \(limit ?? .zero)\n"
            _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        }

        /// Returns the demangled name of a closure's function.
        static func name(of task: @escaping () -> Void) -> String {
            // Safe: a closure is a pair of function address and context. Wrapping it in a struct avoids a reabstraction
            // thunk.
            let function = unsafeBitCast(Closure(run: task), to: (function: UInt, context: UInt).self).function
            return SymbolTable.name(at: function) ?? "at 0x\(String(function, radix: 16))"
        }
    }

    /// The CPU time of the current thread, accurate to a millisecond.
    ///
    /// Unlike the clock, the CPU time takes a system call. One before each task cost a tenth of the test suite's time,
    /// so a reading serves all tasks that begin within a millisecond.
    private enum ProcessorTime {
        private static let maximumAge: Int64 = 1_000_000
        /// The last reading of each thread: the clock and the CPU time, in nanoseconds.
        private static let readings: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key) { $0?.deallocate() }
            return key
        }()

        static func wall() -> Int64 { read(CLOCK_MONOTONIC) }

        static func begin() -> Int64 {
            let now = wall()
            let last = reading()
            if last[1] == 0 || now - last[0] > maximumAge {
                last[0] = now
                last[1] = read(CLOCK_THREAD_CPUTIME_ID)
            }
            return now
        }

        /// Returns the least CPU time that the current thread can have used since ``begin()``.
        static func used(since start: Int64) -> Int64 {
            let last = reading()
            return read(CLOCK_THREAD_CPUTIME_ID) - last[1] - max(0, start - last[0])
        }

        private static func reading() -> UnsafeMutablePointer<Int64> {
            // Safe: only this function sets the key's value, and each thread has its own, which is freed at its end.
            if let known = pthread_getspecific(readings) { return known.assumingMemoryBound(to: Int64.self) }
            let new = UnsafeMutablePointer<Int64>.allocate(capacity: 2)
            new.initialize(repeating: 0, count: 2)
            pthread_setspecific(readings, new)
            return new
        }

        private static func read(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    /// The full symbol table of a loaded file, because closures have no exported symbols.
    private enum SymbolTable {
        /// Returns the name of the function at an address; nil if the file has no symbols.
        static func name(at address: UInt) -> String? {
            guard let (base, path) = file(at: address) else { return nil }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            let size = Int(lseek(descriptor, 0, SEEK_END))
            guard size > 64, let map = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), map != MAP_FAILED else {
                return nil
            }
            defer { munmap(map, size) }
            let file = UnsafeRawBufferPointer(start: map, count: size)
            return symbol(in: file, covering: UInt64(address - base)).map(demangled)
        }

        /// Returns the file that an address is mapped from, and the start of its mapping (proc_pid_maps(5)).
        private static func file(at address: UInt) -> (base: UInt, path: String)? {
            guard let maps = fopen("/proc/self/maps", "re") else { return nil }
            defer { fclose(maps) }
            var (base, path) = (UInt(0), "")
            var line = [CChar](repeating: 0, count: 8_192)
            while fgets(&line, Int32(line.count), maps) != nil {
                let text = String(
                    decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)),
                    as: UTF8.self
                )
                let fields = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
                let ends = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
                guard fields.count == 6, ends.count == 2 else { continue }
                let name = fields[5].drop { $0 == " " }
                if name != path { (base, path) = (ends[0], String(name)) }
                if ends[0] <= address, address < ends[1] { return (base, path) }
            }
            return nil
        }

        /// Searches the symbol table of a 64-bit ELF file (elf(5)).
        private static func symbol(in file: UnsafeRawBufferPointer, covering address: UInt64) -> String? {
            func read<T: FixedWidthInteger>(_ offset: UInt64, _: T.Type) -> UInt64 {
                guard offset <= UInt64(file.count - MemoryLayout<T>.size) else { return 0 }
                return UInt64(file.loadUnaligned(fromByteOffset: Int(offset), as: T.self))
            }
            guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]) else { return nil }
            let (sections, size) = (read(0x28, UInt64.self), read(0x3A, UInt16.self))
            for section in 0..<read(0x3C, UInt16.self) {
                let header = sections + section * size
                // SHT_SYMTAB. Its `sh_link` is the string table's section.
                guard read(header + 4, UInt32.self) == 2 else { continue }
                let strings = read(sections + read(header + 0x28, UInt32.self) * size + 0x18, UInt64.self)
                let (start, length) = (read(header + 0x18, UInt64.self), read(header + 0x20, UInt64.self))
                for symbol in stride(from: start, to: start + length, by: 24) {
                    let value = read(symbol + 8, UInt64.self)
                    guard value <= address, address < value + read(symbol + 16, UInt64.self) else { continue }
                    let name = Int(strings + read(symbol, UInt32.self))
                    guard name < file.count else { return nil }
                    return String(decoding: file[name...].prefix { $0 != 0 }, as: UTF8.self)
                }
            }
            return nil
        }

        private static func demangled(_ name: String) -> String {
            name.withCString { text in
                guard let result = demangle(text, UInt(strlen(text)), nil, nil, 0) else { return name }
                defer { free(result) }
                return String(cString: result)
            }
        }
    }

    @_silgen_name("swift_demangle")
    private func demangle(
        _ name: UnsafePointer<CChar>,
        _ length: UInt,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ size: UnsafeMutablePointer<UInt>?,
        _ flags: UInt32
    ) -> UnsafeMutablePointer<CChar>?
#else
    /// A no-op outside of debug builds.
    package enum LoopWatchdog {
        @inline(__always)
        package static func run(_ task: () -> Void) { task() }
    }
#endif

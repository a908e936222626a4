#if DEBUG
    import EventLoops
    import Testing

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    @Suite struct LoopWatchdogTests {
        private func threadTime() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }

        private func aSlowHandler(_ nanoseconds: Int) -> () -> Void {
            let end = threadTime() + nanoseconds
            return { while threadTime() < end {} }
        }

        @Test("the watchdog names a handler that uses too much processor time, and no other")
        func theWatchdogNamesASlowHandler() {
            let limit = Duration.milliseconds(20)
            var reports: [(name: String, time: Duration)] = []
            LoopWatchdog.measure({}, limit: limit, { reports.append(($0, $1)) })
            #expect(reports.isEmpty)
            LoopWatchdog.measure(aSlowHandler(30_000_000), limit: limit, { reports.append(($0, $1)) })
            #expect(reports.count == 1)
            #expect(reports.first?.name.contains("aSlowHandler") == true)
            #expect(reports.first.map { $0.time > limit } == true)
            reports = []
            // A reading that is a moment old counts none of the time before the task.
            aSlowHandler(15_000_000)()
            LoopWatchdog.measure({}, limit: limit, { reports.append(($0, $1)) })
            aSlowHandler(15_000_000)()
            LoopWatchdog.measure(aSlowHandler(10_000_000), limit: limit, { reports.append(($0, $1)) })
            #expect(reports.isEmpty)
        }
    }
#endif

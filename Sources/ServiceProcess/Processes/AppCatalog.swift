import EventLoops

/// How installed apps are launched, as the directory of apps last said. The files are read on another thread: one that a slow or hostile file
/// system holds back delays nothing else. Lives on the loop.
final class AppCatalog {
    /// How long a caller waits for a read before it makes do with what was read before. So the number of waiting callers is bounded by the
    /// questions that tools may have pending.
    static let patience = Duration.seconds(5)

    private struct Caller {
        /// The first read that began after the caller had asked.
        let read: UInt64
        let completion: () -> Void
        let timer: ScheduledTask
    }

    /// How each app is launched, by its bundle identifier.
    private(set) var commands: [String: [String]] = [:]

    private let look: (@Sendable () -> [String: [String]])?
    private let loop: any EventLoop
    private var callers: [UInt64: Caller] = [:]
    private var lastCaller: UInt64 = 0
    private var lastRead: UInt64 = 0
    private var isReading = false

    /// A catalog. On the loop.
    ///
    /// - Parameter look: Reads the directory, on another thread; without it the catalog stays empty.
    init(loop: any EventLoop, _ look: (@Sendable () -> [String: [String]])?) {
        self.look = look
        self.loop = loop
        read()
    }

    /// Reads the directory anew. `completion` is called once, on the loop: after a read that began after this call, or after ``patience``.
    func refresh(_ completion: @escaping () -> Void) {
        guard look != nil else { return completion() }
        lastCaller += 1
        let number = lastCaller
        let timer = loop.schedule(after: Self.patience) { [weak self] in
            self?.callers.removeValue(forKey: number)?.completion()
        }
        callers[number] = Caller(read: lastRead + 1, completion: completion, timer: timer)
        if !isReading { read() }
    }

    private func read() {
        guard let look else { return }
        isReading = true
        lastRead += 1
        let catalog = LoopBound(self, loop: loop)
        SideQueue.run {
            let commands = look()
            catalog.loop.submit { catalog.value.finish(commands) }
        }
    }

    private func finish(_ new: [String: [String]]) {
        commands = new
        isReading = false
        let done = callers.filter { $0.value.read <= lastRead }.sorted { $0.key < $1.key }
        for (number, caller) in done {
            callers[number] = nil
            loop.cancel(caller.timer)
        }
        if !callers.isEmpty { read() }
        for (_, caller) in done { caller.completion() }
    }
}

import CAppTime
import EventLoops
import ServiceMessages
import Synchronization

/// The dispatch timers and Foundation timers of apps that follow a world. May be used from any thread.
final class AppTimers: Sendable {
    static let shared = AppTimers()

    /// A timer, which its source retains once it has a handler. Then it ends with the source.
    private struct Source {
        var strong: SourceTimer?
        weak var timer: SourceTimer?
    }

    private let sources = Mutex<[UInt: Source]>([:])
    private let timers = Mutex<[UInt: FoundationTimer]>([:])

    // MARK: Dispatch sources

    func begin(source: UnsafeMutableRawPointer) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        let timer = SourceTimer(source, timekeeper)
        let old = sources.withLock {
            $0.updateValue(Source(strong: timer, timer: timer), forKey: UInt(bitPattern: source))
        }
        withExtendedLifetime(old) {}
        return true
    }

    func forget(source: UnsafeMutableRawPointer) -> Bool {
        // Released outside of the lock.
        let old = sources.withLock { $0.removeValue(forKey: UInt(bitPattern: source)) }
        return withExtendedLifetime(old) { old != nil }
    }

    /// Lets a timer end with its source, which retains it from now on.
    func retain(source: UnsafeMutableRawPointer) {
        let old = sources.withLock { sources in
            defer { sources[UInt(bitPattern: source)]?.strong = nil }
            return sources[UInt(bitPattern: source)]?.strong
        }
        withExtendedLifetime(old) {}
    }

    func cancel(source: UnsafeMutableRawPointer) -> Bool {
        guard let timer = self[source: source] else { return false }
        timer.stop()
        return forget(source: source)
    }

    subscript(source source: UnsafeMutableRawPointer) -> SourceTimer? {
        sources.withLock { $0[UInt(bitPattern: source)]?.timer }
    }

    // MARK: Foundation

    func begin(
        timer: UnsafeMutableRawPointer,
        due: Int64,
        interval: Int64,
        _ fire: @escaping FoundationTimer.Fire,
        _ info: UnsafeMutableRawPointer?
    ) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else {
            timers.withLock { $0[UInt(bitPattern: timer)] = nil }
            return false
        }
        let made = FoundationTimer(timer, due: due, interval: interval, fire, info, timekeeper)
        timers.withLock { $0[UInt(bitPattern: timer)] = made }
        return true
    }

    /// - Parameter isMain: Whether the run loop is the main one. If it is that of this thread, the timer fires only if
    ///   the thread runs the main queue: in programs without a main run loop, Dispatch's threads do.
    func add(timer: UnsafeMutableRawPointer, toMain isMain: Bool) -> Bool {
        guard isMain || AppTimeHooks.mainQueue.isCurrent else { return false }
        return self[timer: timer]?.add(on: AppTimeHooks.mainQueue) != nil
    }

    /// Adds a timer to the run loop of a thread of the app's own.
    func add(timer: UnsafeMutableRawPointer, to loop: UnsafeMutableRawPointer, _ mode: UnsafeMutableRawPointer) -> Bool
    {
        self[timer: timer]?.add(on: ThreadRunLoop(loop, mode)) != nil
    }

    func move(timer: UnsafeMutableRawPointer, to due: Int64) -> Bool {
        guard let timer = self[timer: timer] else { return false }
        timer.move(to: due)
        return timer.isOnThread
    }

    func end(timer: UnsafeMutableRawPointer) -> Bool {
        guard let timer = timers.withLock({ $0.removeValue(forKey: UInt(bitPattern: timer)) }) else { return false }
        timer.end()
        return true
    }

    private subscript(timer timer: UnsafeMutableRawPointer) -> FoundationTimer? {
        timers.withLock { $0[UInt(bitPattern: timer)] }
    }
}

/// A dispatch timer, for which the app has a source that the world's clock triggers.
final class SourceTimer: Sendable {
    private struct State: Sendable {
        var cancel: (@Sendable () -> Void)?
        var generation = 0
        var handler: PendingHandler?
        var endHandler: PendingCall?
        var hasEnded = false
    }

    // Safe: libdispatch allows the use of a source on all threads, and this object ends before the source does.
    nonisolated(unsafe) private let source: UnsafeMutableRawPointer
    private let timekeeper: AppTimekeeper
    private let state = Mutex(State())
    /// Whether the source was triggered, and its handler has not run yet.
    private let isTriggered = Flag()

    init(_ source: UnsafeMutableRawPointer, _ timekeeper: AppTimekeeper) {
        self.source = source
        self.timekeeper = timekeeper
    }

    deinit {
        state.withLock { $0.cancel }?()
        if isTriggered.clear() { timekeeper.source.endWork() }
        _ = AppTimers.shared.forget(source: source)
    }

    /// Starts the timer, or starts it anew. A delay below zero is forever; an interval below zero is none.
    func start(after delay: Int64, every interval: Int64) {
        let (generation, cancel) = state.withLock { state in
            state.generation += 1
            defer { state.cancel = nil }
            return (state.generation, state.cancel)
        }
        cancel?()
        if delay >= 0 { schedule(after: delay, every: interval, generation) }
    }

    private func schedule(after delay: Int64, every interval: Int64, _ generation: Int) {
        let cancel = timekeeper.source.schedule(after: .nanoseconds(delay)) { [weak self] in
            guard let self, isCurrent(generation) else { return }
            trigger()
            if interval > 0 { schedule(after: interval, every: interval, generation) }
        }
        state.withLock { if $0.generation == generation { $0.cancel = cancel } }
    }

    private func isCurrent(_ generation: Int) -> Bool { state.withLock { $0.generation == generation } }

    private func trigger() {
        if isTriggered.set() { timekeeper.source.beginWork() }
        apptime_merge(source)
    }

    func handle(_ call: apptime_call) {
        let handler = PendingHandler(call)
        state.withLock { $0.handler = handler }
        let call = apptime_call(
            call: { Unmanaged<SourceTimer>.fromOpaque($0).takeUnretainedValue().fired() },
            drop: { Unmanaged<SourceTimer>.fromOpaque($0).release() },
            context: Unmanaged.passRetained(self).toOpaque()
        )
        apptime_handle(source, call)
        AppTimers.shared.retain(source: source)
    }

    private func fired() {
        let handler = state.withLock { $0.handler }
        RunningApp.run(as: timekeeper) { handler?.run() }
        if isTriggered.clear() { timekeeper.source.endWork() }
    }

    func handleEnd(_ call: apptime_call) {
        let handler = PendingCall(call)
        state.withLock { $0.endHandler = handler }
        let call = apptime_call(
            call: { Unmanaged<SourceTimer>.fromOpaque($0).takeUnretainedValue().ended() },
            drop: { Unmanaged<SourceTimer>.fromOpaque($0).release() },
            context: Unmanaged.passRetained(self).toOpaque()
        )
        apptime_handle_end(source, call)
    }

    private func ended() {
        let (handler, isAwaited) = state.withLock { ($0.endHandler, $0.hasEnded) }
        RunningApp.run(as: timekeeper) { handler?.run() }
        if isAwaited { timekeeper.source.endWork() }
    }

    /// Stops the timer, which the app cancels now.
    func stop() {
        let (cancel, hasEndHandler) = state.withLock { state in
            state.generation += 1
            state.hasEnded = state.endHandler != nil
            defer { state.cancel = nil }
            return (state.cancel, state.hasEnded)
        }
        cancel?()
        if hasEndHandler { timekeeper.source.beginWork() }
        if isTriggered.clear() { timekeeper.source.endWork() }
    }
}

/// A call from libdispatch that is made again and again.
final class PendingHandler: Sendable {
    // Safe: libdispatch calls the handler of a source on one thread at a time.
    nonisolated(unsafe) private let call: apptime_call

    init(_ call: apptime_call) {
        self.call = call
    }

    deinit { call.drop(call.context) }

    func run() { call.call(call.context) }
}

/// A timer of Foundation on the main run loop.
final class FoundationTimer: Sendable {
    typealias Fire = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void

    private struct State: Sendable {
        var due: Int64
        var queue: (any CallbackQueue)?
        var generation = 0
        var cancel: (@Sendable () -> Void)?
    }

    // Safe: the run loop's place is taken by this object, which retains the timer from `add()` to `end()`.
    nonisolated(unsafe) private let timer: UnsafeMutableRawPointer
    nonisolated(unsafe) private let info: UnsafeMutableRawPointer?
    private let interval: Int64
    private let fire: Fire
    private let timekeeper: AppTimekeeper
    private let state: Mutex<State>

    init(
        _ timer: UnsafeMutableRawPointer,
        due: Int64,
        interval: Int64,
        _ fire: @escaping Fire,
        _ info: UnsafeMutableRawPointer?,
        _ timekeeper: AppTimekeeper
    ) {
        self.timer = timer
        self.interval = interval
        self.fire = fire
        self.info = info
        self.timekeeper = timekeeper
        state = Mutex(State(due: due))
    }

    /// Starts the timer. Adding it to several modes counts once.
    func add(on queue: any CallbackQueue) {
        let isNew = state.withLock { state in
            defer { state.queue = state.queue ?? queue }
            return state.queue == nil
        }
        guard isNew else { return }
        apptime_retain_object(timer)
        schedule()
    }

    /// Whether the timer is on the run loop of a thread of the app's own.
    var isOnThread: Bool { state.withLock { $0.queue is ThreadRunLoop } }

    func move(to due: Int64) {
        let isAdded = state.withLock { state in
            state.due = due
            return state.queue != nil
        }
        if isAdded { schedule() }
    }

    func end() {
        let (isAdded, cancel) = state.withLock { state in
            defer { (state.queue, state.cancel) = (nil, nil) }
            state.generation += 1
            return (state.queue != nil, state.cancel)
        }
        cancel?()
        if isAdded { apptime_release_object(timer) }
    }

    private func schedule() {
        let (due, queue, generation, cancel) = state.withLock { state in
            state.generation += 1
            return (state.due, state.queue, state.generation, state.cancel)
        }
        cancel?()
        guard let queue else { return }
        let source = timekeeper.source
        let now = source.calendarStart &+ source.now.nanoseconds
        let next = source.schedule(after: .nanoseconds(max(due.subtractingReportingOverflow(now).partialValue, 0))) {
            [self] in
            source.deliver(on: queue) { [self] in
                RunningApp.run(as: timekeeper) { call(generation) }
            }
        }
        state.withLock { if $0.generation == generation { $0.cancel = next } }
    }

    private func call(_ generation: Int) {
        guard state.withLock({ $0.generation == generation }), apptime_timer_is_valid(timer) else { return }
        fire(timer, info)
        // The app may have ended the timer or moved it.
        guard let due = state.withLock({ $0.generation == generation ? $0.due : nil }) else { return }
        guard interval > 0 else {
            _ = AppTimers.shared.end(timer: timer)
            return apptime_invalidate(timer)
        }
        let next = due.addingReportingOverflow(interval).partialValue
        if !isOnThread { apptime_set_next(timer, next) }
        move(to: next)
    }
}

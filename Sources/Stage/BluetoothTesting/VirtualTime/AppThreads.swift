import CAppTime
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// Threads that code of an app starts, by `Thread` of Foundation or by `pthread_create`.
///
/// Such a thread belongs to the app until it ends. The world's clock stands still while it runs, for two seconds of
/// real time at most, and goes on while it waits for something. Each function gets the thread's timekeeper, retained
/// by ``start(_:)``.
enum AppThread {
    static func start(_ app: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        // The clock stands still until the thread has begun.
        timekeeper.source.beginWork()
        app.pointee = Unmanaged.passRetained(timekeeper).toOpaque()
        return true
    }

    static func drop(_ app: UnsafeMutableRawPointer) {
        Unmanaged<AppTimekeeper>.fromOpaque(app).takeRetainedValue().source.endWork()
    }

    static func begin(_ app: UnsafeMutableRawPointer) {
        let source = Unmanaged<AppTimekeeper>.fromOpaque(app).takeUnretainedValue().source
        apptime_set_context(app)
        source.beginThread()
        source.endWork()
    }

    static func end(_ app: UnsafeMutableRawPointer) {
        apptime_set_context(nil)
        Unmanaged<AppTimekeeper>.fromOpaque(app).takeRetainedValue().source.endThread()
    }
}

/// A thread of an app that waits in the time of its world.
final class WorldSleep: Sendable {
    private enum State {
        case waiting
        case over
        case ended
    }

    /// How often a sleeping thread checks, by the clock of the machine, whether its process has ended.
    private static let pause = DispatchTimeInterval.milliseconds(50)

    private let timekeeper: AppTimekeeper
    private let state = Mutex(State.waiting)
    private let end = DispatchSemaphore(value: 0)

    private init(_ timekeeper: AppTimekeeper) {
        self.timekeeper = timekeeper
    }

    /// Sleeps until the time has passed, or the process of the app has ended.
    static func sleep(_ duration: Int64, _ isCut: UnsafeMutablePointer<Bool>) -> Bool {
        guard let timekeeper = RunningApp.onThread else { return false }
        let sleep = WorldSleep(timekeeper)
        sleep.start(duration)
        while sleep.end.wait(timeout: .now() + pause) == .timedOut, !sleep.hasProcessEnded {}
        isCut.pointee = sleep.hasProcessEnded
        sleep.finish()
        return true
    }

    static func begin(_ limit: Int64, _ wait: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Bool {
        guard let timekeeper = RunningApp.onThread else { return false }
        let sleep = WorldSleep(timekeeper)
        wait.pointee = Unmanaged.passRetained(sleep).toOpaque()
        sleep.start(limit)
        return true
    }

    static func isOver(_ wait: UnsafeMutableRawPointer) -> Bool {
        let sleep = Unmanaged<WorldSleep>.fromOpaque(wait).takeUnretainedValue()
        return sleep.state.withLock { $0 == .over } || sleep.hasProcessEnded
    }

    static func end(_ wait: UnsafeMutableRawPointer) {
        Unmanaged<WorldSleep>.fromOpaque(wait).takeRetainedValue().finish()
    }

    private var hasProcessEnded: Bool { timekeeper.source.connection?.hasEnded ?? true }

    private func start(_ duration: Int64) {
        let alarm = Alarm(self)
        _ = timekeeper.source.schedule(after: .nanoseconds(max(duration, 0))) { alarm.ring() }
    }

    /// The time has passed. The clock stands still until the thread has noticed.
    private func pass() {
        let isFirst = state.withLock { state in
            guard state == .waiting else { return false }
            timekeeper.source.beginWork()
            state = .over
            return true
        }
        if isFirst { end.signal() }
    }

    private func finish() {
        let isOver = state.withLock { state in
            defer { state = .ended }
            return state == .over
        }
        if isOver { timekeeper.source.endWork() }
    }

    /// Ends a wait when its time has passed, or when the timer is released because the process has ended.
    private final class Alarm: Sendable {
        private let sleep: WorldSleep

        init(_ sleep: WorldSleep) {
            self.sleep = sleep
        }

        deinit { ring() }

        func ring() { sleep.pass() }
    }
}

/// The run loop of a thread of an app.
final class ThreadRunLoop: CallbackQueue {
    // Safe: a run loop may be woken from all threads, and both are retained.
    nonisolated(unsafe) private let loop: UnsafeMutableRawPointer
    nonisolated(unsafe) private let mode: UnsafeMutableRawPointer

    init(_ loop: UnsafeMutableRawPointer, _ mode: UnsafeMutableRawPointer) {
        (self.loop, self.mode) = (loop, mode)
        apptime_retain_object(loop)
        apptime_retain_object(mode)
    }

    deinit {
        apptime_release_object(loop)
        apptime_release_object(mode)
    }

    /// The world does not run on such threads.
    var isCurrent: Bool { false }
    /// The clock waits for the thread, and not for the call, which comes when the thread returns to its run loop.
    var isRunning: Bool { false }

    func async(_ callback: @escaping @Sendable () -> Void) {
        let call = apptime_call(
            call: { Unmanaged<Closure>.fromOpaque($0).takeUnretainedValue().run() },
            drop: { Unmanaged<Closure>.fromOpaque($0).release() },
            context: Unmanaged.passRetained(Closure(callback)).toOpaque()
        )
        apptime_perform(loop, mode, call)
    }
}

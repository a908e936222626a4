import BluetoothSimulation
import CAppTime
import EventLoops
import ServiceMessages

/// Lets the code of simulated apps follow the time of their world without changes to it.
///
/// In a program that links this module, the system's clocks and timers ask whether the running code belongs to such an
/// app: code that an app's launch or a callback runs, what that code submits to queues, timers and tasks, and the
/// threads that it starts. For such code,
///
/// - `Date`, `ContinuousClock`, `SuspendingClock`, `DispatchTime` and `DispatchWallTime` show the time of the world,
/// - `DispatchQueue.asyncAfter`, dispatch timers, `Timer` on the main run loop and on those of the app's threads, and
///   `Task.sleep` fire by it,
/// - the world's clock stands still until work that the app submitted to a queue, or in a task, has ended,
/// - on a thread of the app's own, `Thread.sleep`, and semaphores and groups with a time-out, wait in the time of the
///   world, whose clock stands still while such a thread runs and goes on while it waits.
///
/// Code that blocks a thread of a queue waits by the clock of the machine, and so do sockets and `URLSession`. The
/// world waits two seconds for work at most.
///
/// It works where a program's own functions take the place of those in shared libraries: on Linux with glibc, unless
/// Swift's libraries are linked statically or ThreadSanitizer is used.
package enum VirtualAppTime {
    /// Whether this platform supports it.
    package static var isSupported: Bool { apptime_is_supported() }

    /// Makes apps that are launched in a world from now on follow its time.
    package static func follow(_ world: SimulatedWorld) {
        AppTimeHooks.install()
        world.appsFollowTime = isSupported
    }
}

/// The app that the running code belongs to.
enum RunningApp {
    /// The timekeeper of the running app; nil if the code belongs to no app that follows a world.
    static var timekeeper: AppTimekeeper? {
        // Set on this thread for code that has no task of the app.
        guard apptime_context() == nil else { return onThread }
        return ServiceLocator.current?.timekeeper
    }

    /// The app that the code of this thread belongs to, whichever task it is of.
    static var onThread: AppTimekeeper? {
        guard let context = apptime_context() else { return nil }
        let timekeeper = Unmanaged<AppTimekeeper>.fromOpaque(context).takeUnretainedValue()
        return timekeeper.source.connection == nil ? nil : timekeeper
    }

    /// The connection of that app. After the end of its process, what is left of it has no Bluetooth.
    static var connectionOfThread: (any ServiceConnection)? {
        guard apptime_context() != nil else { return nil }
        return onThread?.source.connection ?? UnsupportedConnection()
    }

    static func run(as timekeeper: AppTimekeeper, _ body: () -> Void) {
        let outer = apptime_context()
        // The pointer is valid while this function runs, since the caller retains the timekeeper.
        apptime_set_context(Unmanaged.passUnretained(timekeeper).toOpaque())
        defer { apptime_set_context(outer) }
        guard let connection = timekeeper.source.connection else { return body() }
        ServiceLocator.$current.withValue(connection, operation: body)
    }
}

/// A call from libdispatch that is made once, or dropped.
final class PendingCall: Sendable {
    // Safe: it is used once, by `run()` or by `deinit`, which excludes it.
    nonisolated(unsafe) private let call: apptime_call
    private let isUsed = Flag()

    init(_ call: apptime_call) {
        self.call = call
    }

    deinit {
        if !isUsed.isSet { call.drop(call.context) }
    }

    func run() {
        if isUsed.set() { call.call(call.context) }
    }
}

/// A queue of the app, known by its pointer.
final class RawQueue: CallbackQueue {
    // Safe: libdispatch allows the use of a retained queue on all threads.
    nonisolated(unsafe) private let queue: UnsafeMutableRawPointer

    init(_ queue: UnsafeMutableRawPointer) {
        self.queue = queue
        apptime_retain(queue)
    }

    deinit { apptime_release(queue) }

    /// The loop does not run on queues other than the main one.
    var isCurrent: Bool { false }

    func async(_ callback: @escaping @Sendable () -> Void) { Self.async(on: queue, callback) }

    static func async(on queue: UnsafeMutableRawPointer, _ callback: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Closure(callback)).toOpaque()
        apptime_async(queue, box) { Unmanaged<Closure>.fromOpaque($0).takeRetainedValue().run() }
    }
}

/// A closure that C code carries.
final class Closure: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

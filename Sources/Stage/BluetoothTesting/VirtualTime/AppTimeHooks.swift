import CAppTime
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// The functions that the replaced calls of the system ask. Each returns false if the running code belongs to no app
/// that follows a world.
enum AppTimeHooks {
    // Safe: initialized once, and read only after that.
    nonisolated(unsafe) private static let hooks = {
        let hooks = UnsafeMutablePointer<apptime_hooks>.allocate(capacity: 1)
        hooks.initialize(to: table)
        return UnsafePointer(hooks)
    }()

    static func install() {
        apptime_install(hooks)
        ServiceLocator.findOtherwise { RunningApp.connectionOfThread }
    }

    private static var table: apptime_hooks {
        apptime_hooks(
            now: { AppTimeHooks.now($0, $1) },
            after: { AppTimeHooks.after($0, $1, $2) },
            async: { AppTimeHooks.async($0, $1) },
            job: { AppTimeHooks.job($0, $1) },
            begin_source: { AppTimers.shared.begin(source: $0) },
            forget_source: { AppTimers.shared.forget(source: $0) },
            set_source: { AppTimers.shared[source: $0]?.start(after: $1, every: $2) != nil },
            handle_source: { AppTimers.shared[source: $0]?.handle($1) != nil },
            end_source: { AppTimers.shared[source: $0]?.handleEnd($1) != nil },
            cancel_source: { AppTimers.shared.cancel(source: $0) },
            begin_timer: { AppTimers.shared.begin(timer: $0, due: $1, interval: $2, $3, $4) },
            add_timer: { AppTimers.shared.add(timer: $0, toMain: $1) },
            add_own_timer: { AppTimers.shared.add(timer: $0, to: $1, $2) },
            move_timer: { AppTimers.shared.move(timer: $0, to: $1) },
            end_timer: { AppTimers.shared.end(timer: $0) },
            waits: { AppTimeHooks.waits($0) },
            adopt: { AppTimeHooks.adopt($0) },
            notify: { AppTimeHooks.notify($0, $1) },
            group_emptied: { GroupNotification.groupEmptied($0) },
            start_thread: { AppThread.start($0) },
            drop_thread: { AppThread.drop($0) },
            begin_thread: { AppThread.begin($0) },
            end_thread: { AppThread.end($0) },
            sleep: { WorldSleep.sleep($0, $1) },
            begin_wait: { WorldSleep.begin($0, $1) },
            is_over: { WorldSleep.isOver($0) },
            end_wait: { WorldSleep.end($0) }
        )
    }

    private static func now(_ elapsed: UnsafeMutablePointer<Int64>, _ calendar: UnsafeMutablePointer<Int64>) -> Bool {
        guard let source = RunningApp.timekeeper?.source else { return false }
        let now = source.now.nanoseconds
        elapsed.pointee = now
        calendar.pointee = source.calendarStart &+ now
        return true
    }

    private static func waits(_ function: UnsafePointer<CChar>) -> Bool {
        guard let source = RunningApp.timekeeper?.source else { return false }
        source.noteWait(String(cString: function))
        return true
    }

    private static func after(_ queue: UnsafeMutableRawPointer, _ delay: Int64, _ call: apptime_call) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        let (queue, call) = (callbackQueue(queue), PendingCall(call))
        _ = timekeeper.source.schedule(after: .nanoseconds(delay)) {
            timekeeper.source.deliver(on: queue) { RunningApp.run(as: timekeeper) { call.run() } }
        }
        return true
    }

    private static func async(_ queue: UnsafeMutableRawPointer, _ call: apptime_call) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        let call = PendingCall(call)
        perform(on: queue, as: timekeeper) { call.run() }
        return true
    }

    private static func adopt(_ call: UnsafeMutablePointer<apptime_call>) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        timekeeper.source.beginWork()
        let pending = PendingCall(call.pointee)
        call.pointee = calling {
            RunningApp.run(as: timekeeper) { pending.run() }
            timekeeper.source.endWork()
        }
        return true
    }

    private static func notify(_ group: UnsafeMutableRawPointer, _ call: UnsafeMutablePointer<apptime_call>) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        let (pending, notification) = (PendingCall(call.pointee), GroupNotification(group, of: timekeeper))
        call.pointee = calling { notification.run { RunningApp.run(as: timekeeper) { pending.run() } } }
        return true
    }

    private static func calling(_ body: @escaping @Sendable () -> Void) -> apptime_call {
        apptime_call(
            call: { Unmanaged<Closure>.fromOpaque($0).takeRetainedValue().run() },
            drop: { Unmanaged<Closure>.fromOpaque($0).release() },
            context: Unmanaged.passRetained(Closure(body)).toOpaque()
        )
    }

    private static func job(_ job: UnsafeMutableRawPointer, _ isOfMain: Bool) -> Bool {
        guard let timekeeper = RunningApp.timekeeper else { return false }
        // Safe: the runtime retains a job until it has run.
        nonisolated(unsafe) let job = job
        let queue = isOfMain ? apptime_main_queue() : globalQueue
        perform(on: queue, as: timekeeper) { apptime_run_job(job, isOfMain) }
        return true
    }

    /// Runs work of an app on a queue, and lets the clock of the world wait for it. Work of the main queue takes its
    /// turn among the callbacks there.
    private static func perform(
        on queue: UnsafeMutableRawPointer,
        as timekeeper: AppTimekeeper,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard queue != apptime_main_queue() else {
            return timekeeper.source.deliver(on: mainQueue) { RunningApp.run(as: timekeeper, body) }
        }
        timekeeper.source.beginWork()
        RawQueue.async(on: queue) {
            RunningApp.run(as: timekeeper, body)
            timekeeper.source.endWork()
        }
    }

    static let mainQueue: any CallbackQueue = AppQueue(.main)

    static func callbackQueue(_ queue: UnsafeMutableRawPointer) -> any CallbackQueue {
        queue == apptime_main_queue() ? mainQueue : RawQueue(queue)
    }

    // Safe: global queues exist as long as the process.
    nonisolated(unsafe) private static let globalQueue: UnsafeMutableRawPointer = apptime_global_queue()
}

/// A call with which a dispatch group notifies an app. The world's clock stands still for it from the moment at which
/// the group is empty, since libdispatch is sure to make the call then.
private final class GroupNotification: Sendable {
    /// The notifications for which no clock stands still yet, by the address of the group, which they keep alive.
    private static let waiting = Mutex<[UInt: [GroupNotification]]>([:])

    private let group: UInt
    private let timekeeper: AppTimekeeper

    init(_ group: UnsafeMutableRawPointer, of timekeeper: AppTimekeeper) {
        (self.group, self.timekeeper) = (UInt(bitPattern: group), timekeeper)
        Self.waiting.withLock { $0[self.group, default: []].append(self) }
    }

    static func groupEmptied(_ group: UnsafeMutableRawPointer) -> Bool {
        waiting.withLock { waiting in
            let due = waiting.removeValue(forKey: UInt(bitPattern: group)) ?? []
            for each in due { each.timekeeper.source.beginWork() }
            return !due.isEmpty
        }
    }

    func run(_ body: () -> Void) {
        beginUnlessBegun()
        body()
        timekeeper.source.endWork()
    }

    /// Another thread may run the call before the one that emptied the group has noted it.
    private func beginUnlessBegun() {
        Self.waiting.withLock { waiting in
            guard let index = waiting[group]?.firstIndex(where: { $0 === self }) else { return }
            waiting[group]?.remove(at: index)
            if waiting[group]?.isEmpty == true { waiting[group] = nil }
            timekeeper.source.beginWork()
        }
    }
}

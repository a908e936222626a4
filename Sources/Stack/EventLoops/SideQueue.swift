import Dispatch

/// Runs blocking work on other threads, so that the loop never waits for it.
package enum SideQueue {
    /// Runs `work` on another thread, without delay.
    ///
    /// Each call uses a queue of its own rather than a global queue. Once a process on Linux has used a global queue,
    /// Dispatch wakes every second from then on to count its threads (`src/event/workqueue.c` of
    /// swift-corelibs-libdispatch), which would keep an idle service busy.
    package static func run(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "harald.side").async(execute: work)
    }
}

import Dispatch

/// Runs blocking work on a thread of its own, so that the loop never waits for it.
package enum SideQueue {
    /// Runs `work` on another thread, at once.
    ///
    /// Not on a global queue of Dispatch: once one was used on Linux, Dispatch wakes every second for good to count its threads
    /// (`src/event/workqueue.c` of swift-corelibs-libdispatch), and so would an idle service.
    package static func run(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "harald.side").async(execute: work)
    }
}

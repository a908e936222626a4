import Dispatch

/// Where work is done that may take seconds, so that the loop goes on meanwhile.
enum SideQueue {
    /// Runs `work` on another thread, at once.
    ///
    /// Not on a global queue of Dispatch: once one was used on Linux, Dispatch wakes every second for good to count its threads
    /// (`src/event/workqueue.c` of swift-corelibs-libdispatch), and so would an idle service.
    static func run(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "harald.side").async(execute: work)
    }
}

import Dispatch
import EventLoops

/// Writes files of a ``HostDirectory`` on a thread of its own, one after the other, so that the event loop does not
/// wait for the disk.
///
/// Pending work is held in memory. Its users limit that: they submit one change of a file at a time.
final class DiskWriter: Sendable {
    private let directory: any BondDirectory & Sendable
    // A queue of its own, because after any use of a global queue on Linux, Dispatch wakes up every second (see
    // `SideQueue`).
    private let queue = DispatchQueue(label: "harald.disk")

    init(_ directory: any BondDirectory & Sendable) {
        self.directory = directory
    }

    /// Runs `work` after all earlier work. `completion` is called on the event loop, with the error of the work, if
    /// any.
    ///
    /// The directory that is passed to `work` does not create the host's secret. That is up to the event loop, which
    /// uses the secret too.
    func run<Failure: Error>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable (HostDirectory) throws(Failure) -> Void,
        completion: @escaping (Failure?) -> Void
    ) {
        let done = LoopBound(completion, loop: loop)
        queue.async { [directory] in
            var failure: Failure?
            do throws(Failure) {
                try work(HostDirectory(directory))
            } catch {
                failure = error
            }
            loop.submit { [failure] in done.value(failure) }
        }
    }

    /// Waits until all work has completed. Returns whether it completed in time.
    func finish(within time: Duration) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }
}

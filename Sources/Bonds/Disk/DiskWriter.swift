import Dispatch
import EventLoops

/// Writes files of a ``HostDirectory`` on a thread of its own, one after the other, so that the loop goes on while the disk works.
///
/// It holds what it is given until that is written. Its users bound that: they give it one change of a file at a time.
final class DiskWriter: Sendable {
    private let directory: any BondDirectory & Sendable
    // A queue of its own: once a global queue was used on Linux, Dispatch wakes every second (see `SideQueue`).
    private let queue = DispatchQueue(label: "harald.disk")

    init(_ directory: any BondDirectory & Sendable) {
        self.directory = directory
    }

    /// Runs `work` after all work before it. `completion` is called on the loop, with why the work failed.
    ///
    /// The directory that `work` is given makes no secret of this host: that is for the loop, which uses the secret too.
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

    /// Waits until all work is done.
    ///
    /// - Returns: Whether that was so in time.
    func finish(within time: Duration) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }
}

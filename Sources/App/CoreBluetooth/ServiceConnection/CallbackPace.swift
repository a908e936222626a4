import EventLoops
import ServiceMessages
import Synchronization

/// Measures how long a manager's callbacks take, and reports those that keep others waiting, for advice.
///
/// A simulated app follows the clock of its world, which stands still during callbacks. There, only a callback that
/// waits by that clock is slow.
final class CallbackPace: Sendable {
    /// The longest time of a callback that others may wait for.
    static let longest = Duration.milliseconds(100)
    /// A callback that begins sooner than this after another one has waited for it.
    static let pause = Duration.milliseconds(2)

    private struct State {
        var manager = ManagerID.none
        /// The end and the duration of the last callback, if that was slow.
        var slow: (end: Duration, duration: Duration)?
    }

    private let connection: any ServiceConnection
    private let clock: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameter clock: The time of the app; by default that of the connection, or else of the machine.
    init(_ connection: any ServiceConnection, clock: (@Sendable () -> Duration)? = nil) {
        self.connection = connection
        let start = ContinuousClock.now
        self.clock = clock ?? { connection.timekeeper.map { $0.source.now - .zero } ?? (ContinuousClock.now - start) }
    }

    func follow(_ manager: ManagerID) { state.withLock { $0.manager = manager } }

    func measure(_ callback: () -> Void) {
        let start = clock()
        report(start)
        callback()
        let end = clock()
        if end - start > Self.longest { state.withLock { $0.slow = (end, end - start) } }
    }

    /// Reports the last callback if it was slow, and the one that begins now has waited for it.
    private func report(_ now: Duration) {
        let (slow, manager) = state.withLock { state in
            defer { state.slow = nil }
            return (state.slow, state.manager)
        }
        guard let slow, now - slow.end < Self.pause else { return }
        let milliseconds = slow.duration / .milliseconds(1)
        connection.note(.slowCallback(milliseconds: UInt32(clamping: Int64(milliseconds))), of: manager, at: nil)
    }
}

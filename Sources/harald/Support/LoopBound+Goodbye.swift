import Dispatch
import EventLoops

extension LoopBound {
    /// The longest that a program waits at its end for a controller to take the command that silences it.
    private static var goodbye: DispatchTimeInterval { .seconds(3) }

    /// Has the value stop on its loop, and waits until it has called `done`. From any thread but the loop's.
    func stop(_ body: @escaping @Sendable (_ value: Value, _ done: @escaping @Sendable () -> Void) -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        with { body($0) { isDone.signal() } }
        _ = isDone.wait(timeout: .now() + Self.goodbye)
    }
}

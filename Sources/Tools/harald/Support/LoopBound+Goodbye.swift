import Dispatch
import EventLoops

extension LoopBound {
    /// The maximum time to wait at the end of the program for the controller to accept the command that silences it.
    private static var goodbye: DispatchTimeInterval { .seconds(3) }

    /// Stops the value on its loop, and waits until it calls `done`. From any thread but the loop's.
    func stop(_ body: @escaping @Sendable (_ value: Value, _ done: @escaping @Sendable () -> Void) -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        with { body($0) { isDone.signal() } }
        _ = isDone.wait(timeout: .now() + Self.goodbye)
    }
}

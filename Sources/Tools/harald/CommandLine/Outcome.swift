import BluetoothService
import Dispatch
import EventLoops
import Foundation
import Synchronization

/// The outcome of a command. Set from any thread, awaited on the main thread. The first outcome counts.
final class Outcome: Sendable {
    private let result = Mutex<Result<Void, ToolError>?>(nil)
    private let isReported = DispatchSemaphore(value: 0)
    private let onFinish: @Sendable (Result<Void, ToolError>) -> Void

    /// - Parameter onFinish: Called once, with the outcome that counts.
    init(onFinish: @escaping @Sendable (Result<Void, ToolError>) -> Void = { _ in }) {
        self.onFinish = onFinish
    }

    var isKnown: Bool { result.withLock { $0 != nil } }

    /// Throws the failure if the command has already ended with one.
    func throwFailure() throws(ToolError) {
        if case .failure(let error) = result.withLock({ $0 }) { throw error }
    }

    func finish(_ value: Result<Void, ToolError>) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = value
            return true
        }
        guard isFirst else { return }
        isReported.signal()
        onFinish(value)
    }

    /// Prints a line, unless the command has ended: effects of shutting down are not worth reporting.
    func say(_ text: String) {
        if !isKnown { Console.line(text) }
    }

    /// Ends the command successfully on a signal.
    func finishOnInterrupt(by signals: [Int32] = Interrupts.ends) {
        for number in signals {
            Interrupts.on(number) { [self] in finish(.success(())) }
        }
    }

    func wait() throws(ToolError) {
        isReported.wait()
        isReported.signal()
        try throwFailure()
    }

    /// Waits for the outcome, and stops the system. Throws the outcome if it is a failure.
    func wait(thenStopping system: LoopBound<BluetoothSystem>) throws(ToolError) {
        defer { system.stop { $0.leave($1) } }
        try wait()
    }
}

extension LoopBound {
    /// The maximum time to wait at the end of the program for the controller to accept the command that silences it.
    private static var closeTimeout: DispatchTimeInterval { .seconds(3) }

    /// Stops the value on its loop, and waits until it calls `done`. From any thread but the loop's.
    func stop(_ body: @escaping @Sendable (_ value: Value, _ done: @escaping @Sendable () -> Void) -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        with { body($0) { isDone.signal() } }
        _ = isDone.wait(timeout: .now() + Self.closeTimeout)
    }
}

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

enum Interrupts {
    /// SIGINT, SIGTERM, and SIGHUP unless it is ignored, as under nohup(1).
    static var ends: [Int32] {
        var action = sigaction()
        _ = sigaction(SIGHUP, nil, &action)
        // Safe: both are C functions, which are compared as addresses only.
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let isIgnored = handler == unsafeBitCast(SIG_IGN, to: Int.self)
        return isIgnored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    /// Calls `body` on SIGINT, SIGTERM or SIGHUP, with the error that the command has to end with once it has left its
    /// devices. A second signal ends the program at once.
    static func onEnd(_ body: @escaping @Sendable (ToolError) -> Void) {
        let isEnding = Atomic(false)
        for number in ends {
            on(number) {
                let error = ToolError.interrupted(number)
                if isEnding.exchange(true, ordering: .relaxed) { exit(error.exitStatus) }
                body(error)
            }
        }
    }

    /// Calls `handle` on `queue`, or on a queue of its own, for each signal, until the program ends.
    static func on(_ number: Int32, queue: DispatchQueue? = nil, _ handle: @escaping @Sendable () -> Void) {
        // Not SIG_IGN, which launched programs would inherit (execve(2)).
        signal(number) { _ in }
        let source = DispatchSource.makeSignalSource(
            signal: number,
            queue: queue ?? DispatchQueue(label: "harald.signal")
        )
        // The handler retains the source.
        source.setEventHandler {
            _ = source
            handle()
        }
        source.resume()
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

import Dispatch
import Foundation
import Synchronization

/// How a command ended, told from whatever thread, waited for on the main one. The first word counts.
final class Outcome: Sendable {
    private let result = Mutex<Result<Void, ToolError>?>(nil)
    private let told = DispatchSemaphore(value: 0)

    var isKnown: Bool { result.withLock { $0 != nil } }

    /// Throws the failure that has ended the command, if one has.
    func throwFailure() throws(ToolError) {
        if case .failure(let error) = result.withLock({ $0 }) { throw error }
    }

    func finish(_ value: Result<Void, ToolError>) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = value
            return true
        }
        if isFirst { told.signal() }
    }

    /// Says something, unless the end is known already: what comes of ending is nothing that happened.
    func say(_ text: String) {
        if !isKnown { Console.line(text) }
    }

    /// An interrupt by the user or the system ends the command in good order.
    func finishOnInterrupt() {
        for number in [SIGINT, SIGTERM] {
            Interrupts.on(number) { [self] in finish(.success(())) }
        }
    }

    /// Waits for the end, or takes what is known when nobody will say more.
    func wait() throws(ToolError) {
        told.wait()
        told.signal()
        try throwFailure()
    }
}

/// Signals of the operating system.
enum Interrupts {
    /// Calls `handle` on `queue`, or on one that nobody else has, at each such signal, as long as the program runs.
    static func on(_ number: Int32, queue: DispatchQueue? = nil, _ handle: @escaping @Sendable () -> Void) {
        // Not SIG_IGN, which programs that this one starts would keep (execve(2)).
        signal(number) { _ in }
        let source = DispatchSource.makeSignalSource(
            signal: number,
            queue: queue ?? DispatchQueue(label: "harald.signal")
        )
        // The source lives as long as its handler holds it.
        source.setEventHandler {
            _ = source
            handle()
        }
        source.resume()
    }
}

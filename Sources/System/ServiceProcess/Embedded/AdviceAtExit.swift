import AppAdvice
import BluetoothService
import EventLoops
import Foundation
import ServiceMessages
import Synchronization

/// Prints what this program should do better, when it exits, where the environment asks for it. Sanitizers report in
/// the same way.
///
/// A program that ends by a signal reports too if it leaves that signal alone: most programs with Bluetooth run until
/// Ctrl-C.
enum AdviceAtExit {
    /// The environment variable that switches it on, with the value 1.
    static let variable = "HARALD_ADVICE"

    /// Collects the advice. Called once, on the thread that exits.
    private typealias Source = @Sendable () -> [String]

    private static let source = Mutex<Source?>(nil)

    static func isWanted(_ environment: [String: String]) -> Bool { environment[variable] == "1" }

    /// Follows a system in this process until the program exits. Called on the system's loop.
    static func follow(_ system: BluetoothSystem) {
        let advisor = LoopBound(AdvisorBox(), loop: system.loop)
        system.observers.add(Advisor.kinds, counting: { advisor.value.advisor.count($0) }) {
            advisor.value.advisor.accept($0)
        }
        start {
            // The loop ends with the process.
            advisor.with { $0.advice(at: advisor.loop.now) }.withPlaces.map(\.description)
        }
    }

    /// Prints the lines of `advice` when the program exits.
    static func start(_ advice: @escaping @Sendable () -> [String]) {
        let isFirst = source.withLock { source in
            defer { source = advice }
            return source == nil
        }
        guard isFirst else { return }
        atexit { AdviceAtExit.report() }
        for number in [SIGINT, SIGTERM, SIGHUP] { reportOn(number) }
    }

    /// Reports before a signal ends the program, unless the program handles the signal itself.
    private static func reportOn(_ number: Int32) {
        guard handler(number) == 0 else { return }
        signal(number, SIG_IGN)
        let arrival = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "harald.advice"))
        // libdispatch installs a handler of its own. If it changes later, the program handles the signal.
        let ours = Mutex<Int?>(nil)
        arrival.setRegistrationHandler { ours.withLock { $0 = handler(number) } }
        // The handler keeps its source.
        arrival.setEventHandler {
            guard ours.withLock({ $0 == nil || $0 == handler(number) }) else { return withExtendedLifetime(arrival) {} }
            report()
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
        arrival.resume()
    }

    /// The address of the handler of a signal, 0 for the default action.
    private static func handler(_ number: Int32) -> Int {
        var action = sigaction()
        sigaction(number, nil, &action)
        return withUnsafeBytes(of: action) { $0.loadUnaligned(as: Int.self) }
    }

    /// Prints the advice on standard error, once.
    private static func report() {
        let source = source.withLock { source in
            defer { source = nil }
            return source
        }
        guard let source, let text = text(source(), of: ServiceFinder.appName) else { return }
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Returns the report, or nil if there is nothing to say.
    static func text(_ lines: [String], of app: String) -> String? {
        guard !lines.isEmpty else { return nil }
        let number = lines.count == 1 ? "one way" : "\(lines.count) ways"
        return (["== Harald: \(app) could do better in \(number) =="] + lines).map { $0 + "\n" }.joined()
    }

    private final class AdvisorBox {
        private let listening = CallSites.Listening()
        var advisor = Advisor()

        func advice(at now: Instant) -> [Advice] {
            advisor.advance(to: now)
            return advisor.advice
        }
    }
}

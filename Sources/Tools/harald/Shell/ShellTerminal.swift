import Foundation
import Synchronization

/// The terminal of a shell, which the line editor and the running command use in turn. Prompts of pairing read from it
/// only while a command runs, and lines for the user are printed only then.
final class ShellTerminal: Keyboard, Sendable {
    /// The maximum number of lines that wait for the next command. Further ones are lost.
    static let maximumWaiting = 100

    private struct State {
        var isRunning = false
        /// Whether a thread waits for the next command, to read from the terminal.
        var isWaiting = false
        var isReading = false
        var lines: [String] = []
    }

    /// Whether standard input is a terminal. Other input consists of lines for the shell alone.
    private let isTerminal: Bool
    private let print: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let hasBegun = DispatchSemaphore(value: 0)
    private let hasLeft = DispatchSemaphore(value: 0)
    /// A pipe that ends the wait for input.
    private let wake: Pipe

    init(isTerminal: Bool, print: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.print = print
        wake = Pipe()
    }

    /// Prints a line, now or when the next command begins.
    func say(_ text: String) {
        let isRunning = state.withLock { state in
            if !state.isRunning, state.lines.count < Self.maximumWaiting { state.lines.append(text) }
            return state.isRunning
        }
        if isRunning { print(text) }
    }

    func beginCommand() {
        let lines = state.withLock { state in
            state.isRunning = true
            if state.isWaiting { hasBegun.signal() }
            state.isWaiting = false
            defer { state.lines = [] }
            return state.lines
        }
        lines.forEach(print)
    }

    /// Called when a command has ended. Returns when no other thread reads from the terminal.
    func endCommand() {
        let mustWait = state.withLock { state in
            state.isRunning = false
            return state.isReading
        }
        guard mustWait else { return }
        wake.fileHandleForWriting.write(Data([0]))
        hasLeft.wait()
        _ = wake.fileHandleForReading.availableData
    }

    // MARK: Keyboard

    var isAttended: Bool { isTerminal && state.withLock { $0.isRunning } }

    func discardPending() {
        if isTerminal { StandardInput().discardPending() }
    }

    func read() -> [UInt8]? {
        guard isTerminal else { return nil }
        while true {
            let mayRead = state.withLock { state in
                state.isReading = state.isRunning
                state.isWaiting = !state.isRunning
                return state.isRunning
            }
            guard mayRead else {
                hasBegun.wait()
                continue
            }
            let isReady = waitForInput()
            // Reading does not block now, and the editor does not read before the lock is free.
            let input: [UInt8]?? = state.withLock { state in
                state.isReading = false
                if !state.isRunning { hasLeft.signal() }
                return state.isRunning && isReady ? .some(StandardInput().read()) : .none
            }
            if let input { return input }
        }
    }

    private func waitForInput() -> Bool {
        var descriptors = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, nfds_t(descriptors.count), -1)
        return descriptors[0].revents != 0
    }
}

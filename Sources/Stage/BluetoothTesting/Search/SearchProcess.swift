import Foundation
import Synchronization

/// A process of a search: this test program again, with this test alone.
final class SearchProcess: Sendable {
    /// The number of lines of a process's output that are kept for the report of its end.
    private static let maximumLines = 12

    /// The beginnings of messages with which Swift ends a process.
    private static let endings = ["Fatal error", "Precondition failed", "Assertion failed"]

    private let process: LockedProcess
    private let input: FileHandle
    private let reader: LineReader
    private let queue = DispatchQueue(label: "a process of a search")
    /// Whether the process was ended because a world took too long.
    private let isLate = Atomic(false)

    private static let alarms = DispatchQueue(label: "the limits of a search")

    init(_ arguments: [String]) throws {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        var environment = ProcessInfo.processInfo.environment
        environment[SearchWorker.variable] = "1"
        // A backtrace takes seconds, and many processes end while a failure is reduced.
        environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
        process.environment = environment
        do { try process.run() } catch { throw SearchError.worker("\(error)") }
        self.process = LockedProcess(process)
        self.input = input.fileHandleForWriting
        reader = LineReader(output.fileHandleForReading)
    }

    /// Runs one world.
    ///
    /// - Parameters:
    ///   - request: The world.
    ///   - limit: The time of the machine after which the process is ended.
    /// - Returns: The outcome, and whether the process can run another world.
    func run(
        _ request: SearchRequest,
        within limit: Duration?
    ) async throws -> (outcome: SearchOutcome, isAlive: Bool) {
        let line = try JSONEncoder().encode(request) + Data("\n".utf8)
        try input.write(contentsOf: line)
        return await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: read(request, within: limit)) }
        }
    }

    private func read(
        _ request: SearchRequest,
        within limit: Duration?
    ) -> (outcome: SearchOutcome, isAlive: Bool) {
        let alarm = DispatchWorkItem { [self] in
            isLate.store(true, ordering: .sequentiallyConsistent)
            process.kill()
        }
        defer { alarm.cancel() }
        if let limit { Self.alarms.asyncAfter(deadline: .now() + limit / .seconds(1), execute: alarm) }
        let (outcome, isAlive) = read(request)
        guard let limit, isLate.load(ordering: .sequentiallyConsistent) else { return (outcome, isAlive) }
        return (SearchOutcome(steps: outcome.steps, faults: [.endless(limit)]), false)
    }

    private func read(_ request: SearchRequest) -> (outcome: SearchOutcome, isAlive: Bool) {
        var steps = request.steps ?? []
        var (others, fatal): ([String], [String]) = ([], [])
        while let line = reader.next() {
            guard line.hasPrefix(SearchReply.mark) else {
                if Self.endings.contains(where: { line.contains($0) }) { fatal.append(line) }
                if !line.isEmpty { others = (others + [line]).suffix(Self.maximumLines) }
                continue
            }
            switch try? JSONDecoder().decode(SearchReply.self, from: Data(line.dropFirst(SearchReply.mark.count).utf8))
            {
            case .begun(let drawn): steps = drawn
            case .ended(let faults): return (SearchOutcome(steps: steps, faults: faults), true)
            case nil: break
            }
        }
        let text = ([process.end] + (fatal.isEmpty ? others : fatal)).joined(separator: "\n")
        let fault = SearchFault(check: "the process survives", text: text)
        return (SearchOutcome(steps: steps, faults: [fault]), false)
    }

    func close() {
        try? input.close()
        while reader.next() != nil {}
        _ = process.end
    }

}

/// A process that several threads use.
private final class LockedProcess: Sendable {
    private let process: Mutex<Process>

    init(_ process: sending Process) {
        self.process = Mutex(process)
    }

    var end: String {
        process.withLock { process in
            process.waitUntilExit()
            let (reason, status) = (process.terminationReason, process.terminationStatus)
            return reason == .uncaughtSignal ? "it was ended by signal \(status)" : "it exited with status \(status)"
        }
    }

    func kill() { process.withLock { _ = Foundation.kill($0.processIdentifier, SIGKILL) } }
}

/// Reads lines from a pipe.
private final class LineReader: Sendable {
    private let handle: FileHandle
    private let buffer = Mutex(Data())

    init(_ handle: FileHandle) {
        self.handle = handle
    }

    /// The next line, without its end; nil after the last one. Blocks.
    func next() -> String? {
        buffer.withLock { buffer in
            while true {
                if let end = buffer.firstIndex(of: 0x0A) {
                    let line = String(decoding: buffer[..<end], as: UTF8.self)
                    buffer = Data(buffer[(end + 1)...])
                    return line
                }
                let more = handle.availableData
                guard !more.isEmpty else { return nil }
                buffer.append(more)
            }
        }
    }
}

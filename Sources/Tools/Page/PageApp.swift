import EventLoops
import Foundation

/// The process by which the page uses devices: an app of the service. It runs from the time when a page uses a device
/// until the last page is closed.
///
/// It is a process of its own, because one that answers prompts cannot be an app (AB-G07). Both speak lines of JSON.
/// Used on its loop.
final class PageApp {
    /// The maximum length of a line of the process, in octets. A table with the longest names has about 200,000.
    static let maximumLine = 4 << 20
    /// The maximum number of messages that the process has not answered.
    static let maximumPending = 64

    private final class Child: Sendable {
        let process: Process
        let input: FileHandle
        /// Writes to the process, which may be slow to read. ``PageApp/maximumPending`` bounds what waits.
        let queue = DispatchQueue(label: "harald.page.app")

        init(_ process: Process, input: FileHandle) {
            (self.process, self.input) = (process, input)
        }

        func send(_ line: String) {
            queue.async { [input] in try? input.write(contentsOf: Data((line + "\n").utf8)) }
        }

        /// Lets the process leave its devices and end.
        func end() {
            queue.async { [input] in try? input.close() }
        }
    }

    /// Called with the type and the JSON of each value that the process sends.
    var onValue: ((String, String) -> Void)?

    private let command: [String]
    private let loop: any EventLoop
    private var child: Child?
    /// What receives the answer of each message.
    private var pending: [UInt32: (String) -> Void] = [:]
    private var lastNumber: UInt32 = 0
    private var partial: [UInt8] = []

    /// - Parameter command: The program and its arguments.
    init(_ command: [String], loop: any EventLoop) {
        (self.command, self.loop) = (command, loop)
    }

    /// Sends a message. `answer` receives an error in words, empty if there is none.
    func send(_ message: PageMessage, answer: @escaping (String) -> Void) {
        guard pending.count < Self.maximumPending else {
            return answer("too much is asked of the devices; wait a moment")
        }
        if child == nil { launch() }
        guard let child else { return answer("the program that uses devices cannot be started: \(command[0])") }
        lastNumber &+= 1
        pending[lastNumber] = answer
        child.send(JSON.of(message.numbered(lastNumber)))
    }

    /// Ends the process, which leaves its devices.
    func end() {
        child?.end()
        forget()
    }

    private func forget() {
        child = nil
        partial = []
        let unanswered = pending.values
        pending = [:]
        for answer in unanswered { answer("the program that uses devices has ended") }
    }

    private func launch() {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        (process.standardInput, process.standardOutput) = (input, output)
        let app = LoopBound(WeakReference(app: self), loop: loop)
        let loop = loop
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            loop.submit { app.value.app?.received([UInt8](data)) }
        }
        guard (try? process.run()) != nil else { return }
        child = Child(process, input: input.fileHandleForWriting)
    }

    /// Handles output of the process; none at its end.
    private func received(_ octets: [UInt8]) {
        guard !octets.isEmpty else { return forget() }
        partial += octets
        while let end = partial.firstIndex(of: 0x0A) {
            let line = Data(partial[..<end])
            partial.removeSubrange(...end)
            if let line = try? JSONDecoder().decode(PageLine.self, from: line) { take(line) }
        }
        if partial.count > Self.maximumLine { end() }
    }

    private func take(_ line: PageLine) {
        if let number = line.id {
            pending.removeValue(forKey: number)?(line.value)
        } else {
            onValue?(line.type, line.value)
        }
    }

    private struct WeakReference { weak var app: PageApp? }
}

/// A line of the process that uses devices.
struct PageLine: Codable, Sendable {
    /// The name of a value, or `outcome`.
    let type: String
    /// The value as JSON; of an outcome the error in words, empty if there is none.
    let value: String
    /// The number of the message that this is the outcome of.
    let id: UInt32?
}

import Foundation

/// A child process that runs this program.
final class Child {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var read: ArraySlice<UInt8> = []

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Waits until the child prints a line.
    func wait(for line: String) {
        while next() != line {}
    }

    func ask(_ question: String) -> String {
        report(question)
        return next()
    }

    func report(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// The next line that the child prints.
    func next() -> String {
        while true {
            if let end = read.firstIndex(of: UInt8(ascii: "\n")) {
                defer { read = read[(end + 1)...] }
                return String(decoding: read[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            precondition(!more.isEmpty, "the other process has ended")
            read += more
        }
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}

import Foundation

enum Command {
    /// Runs a program to its end and returns its standard output. If it fails, `output` receives the last lines of it.
    /// Its standard error goes to the terminal. The arguments may start with environment variables.
    ///
    /// - Parameter hear: Called for each line of its output, at once.
    static func output(
        of arguments: [String],
        _ output: WrappingOutput,
        _ hear: (Substring) -> Void = { _ in }
    ) throws(WrappingError) -> Data {
        let name = arguments.drop { $0.contains("=") }.prefix(2).joined(separator: " ")
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = pipe
        let data: Data
        do {
            try process.run()
            data = read(pipe.fileHandleForReading, hear)
        } catch {
            throw WrappingError("cannot start \(name): \(error.localizedDescription)")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let said = String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(30).joined(separator: "\n")
            for line in said.split(separator: "\n") { output.notice(String(line)) }
            throw WrappingError("\(name) failed with status \(process.terminationStatus)")
        }
        return data
    }

    private static func read(_ file: FileHandle, _ hear: (Substring) -> Void) -> Data {
        var (data, line) = (Data(), "")
        while true {
            let part = file.availableData
            guard !part.isEmpty else { return data }
            data += part
            line += String(decoding: part, as: UTF8.self)
            var lines = line.split(separator: "\n", omittingEmptySubsequences: false)
            let rest = lines.popLast().map(String.init) ?? ""
            for line in lines { hear(line) }
            line = rest
        }
    }

    /// Replaces this process by another program. Returns only if that fails.
    static func replaceProcess(by arguments: [String]) -> WrappingError {
        var pointers = arguments.map { strdup($0) } + [nil]
        execvp(arguments[0], &pointers)
        return WrappingError("cannot start \(arguments[0]): \(String(cString: strerror(errno)))")
    }
}

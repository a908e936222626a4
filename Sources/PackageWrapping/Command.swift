import Foundation

enum Command {
    /// Runs a program to its end and returns its standard output. Its standard error goes to the terminal. The
    /// arguments may start with environment variables.
    static func output(of arguments: [String]) throws(ToolError) -> Data {
        let name = arguments.drop { $0.contains("=") }.prefix(2).joined(separator: " ")
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = pipe
        let data: Data
        do {
            try process.run()
            data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        } catch {
            throw .wrapping("cannot start \(name): \(error.localizedDescription)")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let said = String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(30).joined(separator: "\n")
            for line in said.split(separator: "\n") { Console.problem(String(line)) }
            throw .wrapping("\(name) failed with status \(process.terminationStatus)")
        }
        return data
    }

    /// Replaces this process by another program. Returns only if that fails.
    static func replaceProcess(by arguments: [String]) -> ToolError {
        var pointers = arguments.map { strdup($0) } + [nil]
        execvp(arguments[0], &pointers)
        return .wrapping("cannot start \(arguments[0]): \(String(cString: strerror(errno)))")
    }
}

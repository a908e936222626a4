import CLinux
import Foundation

/// A frame of a call, as the debugging information names it. Calls that the compiler has inlined have a frame each.
struct SymbolFrame: Hashable {
    var file: String?
    var line: Int?
    /// The function's name in the program.
    var mangled: String?
    var offset: UInt64 = 0
    /// Whether the code is the toolchain's.
    var isOfSystem = false

    /// The function as written in Swift.
    var function: String? { mangled.map { SwiftNames.demangled($0) } }
}

/// Finds lines of source code by LLVM's symbolizer, which is part of each toolchain.
///
/// Swift's own module `Runtime` could do that within the process. It needs 9 s for a program of 320 MB, where the
/// symbolizer needs half a second, and cannot name addresses that it has not recorded itself; recording them takes it
/// 5 µs for each call, instead of 0.1 µs.
enum Symbolizer {
    private struct Query: Hashable {
        let file: String
        let address: UInt64
    }

    private struct Answer: Decodable {
        struct Symbol: Decodable {
            var FileName: String
            var FunctionName: String
            var Line: Int
            var StartAddress: String
        }

        var Symbol: [Symbol]?
    }

    /// Returns the frames of each stack.
    static func frames(of stacks: [CallSites.Stack]) -> [[SymbolFrame]] {
        let queries = stacks.map { stack in stack.addresses.indices.map { query(stack, $0) } }
        let distinct = Array(Set(queries.joined().compactMap { $0 }.filter { !isOfSystem($0.file) }))
        let answers = ask(distinct)
        return queries.map { $0.flatMap { query in query.flatMap { answers[$0] } ?? [] } }
    }

    private static func query(_ stack: CallSites.Stack, _ index: Int) -> Query? {
        // A return address is behind the call, maybe already on the next line.
        let address = stack.addresses[index] - 1
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { path in
            var difference: UInt64 = 0
            guard let start = path.baseAddress, harald_code_file(address, start, path.count, &difference) != 0 else {
                return nil
            }
            var file = String(cString: start)
            // The symbolizer is another process.
            if file == "/proc/self/exe" { file = CommandLine.executable ?? file }
            return Query(file: file, address: address - difference)
        }
    }

    /// Whether the file is a library of the toolchain or of the system, which has no code of apps.
    private static func isOfSystem(_ file: String) -> Bool {
        guard file.hasSuffix(".so") || file.contains(".so.") else { return false }
        return file.contains("/lib/swift/") || file.hasPrefix("/lib") || file.hasPrefix("/usr/lib")
    }

    /// Returns the frames of each address.
    private static func ask(_ queries: [Query]) -> [Query: [SymbolFrame]] {
        guard !queries.isEmpty, let program else { return [:] }
        let input = queries.map { "CODE \"\($0.file)\" 0x\(String($0.address, radix: 16))\n" }.joined()
        let arguments = ["--output-style=JSON", "--inlines", "--no-demangle"]
        guard let output = run(program, arguments, Data(input.utf8)) else { return [:] }
        let lines = output.split(separator: UInt8(ascii: "\n"))
        var answers: [Query: [SymbolFrame]] = [:]
        for (query, line) in zip(queries, lines) {
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(line))
            answers[query] = (answer?.Symbol ?? []).map { frame($0, query) }
        }
        return answers
    }

    private static func frame(_ symbol: Answer.Symbol, _ query: Query) -> SymbolFrame {
        let start = UInt64(symbol.StartAddress.dropFirst(2), radix: 16)
        return SymbolFrame(
            file: symbol.FileName.isEmpty ? nil : symbol.FileName,
            line: symbol.Line > 0 ? symbol.Line : nil,
            mangled: symbol.FunctionName.isEmpty ? nil : symbol.FunctionName,
            offset: start.map { query.address &- $0 } ?? 0
        )
    }

    /// The symbolizer beside the Swift libraries in use, or in the path.
    private static let program: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = [SwiftNames.toolchain.map { $0 + "/bin" }].compactMap { $0 } + path
        return folders.map { $0 + "/llvm-symbolizer" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Returns what the program writes.
    private static func run(_ program: String, _ arguments: [String], _ input: Data) -> Data? {
        let process = Process()
        let (standardInput, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        // Nothing is fetched from servers of debugging information.
        process.environment = [:]
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            // It answers each line, so that both pipes would fill if the answers were not read meanwhile.
            let writer = Thread {
                try? standardInput.fileHandleForWriting.write(contentsOf: input)
                try? standardInput.fileHandleForWriting.close()
            }
            writer.start()
            return try output.fileHandleForReading.readToEnd()
        } catch {
            return nil
        }
    }
}

extension CommandLine {
    /// The path of this program.
    fileprivate static var executable: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}

import CLinux
import Foundation

/// A frame of a call, as the debugging information names it. Calls that the compiler has inlined have a frame each.
struct SymbolFrame: Hashable {
    var file: String?
    var line: Int?
    var mangled: String?
    var offset: UInt64 = 0
    /// Whether the code is the toolchain's.
    var isOfSystem = false

    var function: String? { mangled.map { SwiftNames.demangled($0) } }
}

/// Finds lines of source code by LLVM's symbolizer, which is part of each toolchain.
///
/// Swift's own module `Runtime` could do that within the process. It needs 9 s for a program of 320 MB, where the
/// symbolizer needs half a second, and cannot name addresses that it has not recorded itself; recording them takes it
/// 5 µs for each call, instead of 0.1 µs.
///
/// It is another program, which may be missing or hang. Then the addresses of calls are left.
struct Symbolizer: Sendable {
    /// How long the program may take. It needs about a second for a large program, on a busy machine several.
    static let timeout = Duration.seconds(10)
    /// The maximum length of its answer, in octets. A frame takes about 200.
    static let maximumOutput = 32 << 20

    private var program: String?
    private let arguments: [String]
    private let timeout: Duration

    /// Creates the symbolizer of a program, by default that of the toolchain.
    init(
        _ program: String? = Self.ofToolchain,
        arguments: [String] = ["--output-style=JSON", "--inlines", "--no-demangle"],
        timeout: Duration = Self.timeout
    ) {
        (self.program, self.arguments, self.timeout) = (program, arguments, timeout)
    }

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

    /// Returns the frames of each stack; nil if there is no symbolizer, or it does not answer. Then it is not asked
    /// again.
    mutating func frames(of stacks: [CallSites.Stack]) -> [[SymbolFrame]]? {
        let queries = stacks.map { stack in stack.addresses.indices.map { Self.query(stack, $0) } }
        let distinct = Array(Set(queries.joined().compactMap { $0 }.filter { !Self.isOfSystem($0.file) }))
        guard let answers = ask(distinct) else {
            program = nil
            return nil
        }
        return queries.map { $0.flatMap { query in query.flatMap { answers[$0] } ?? [] } }
    }

    /// Returns the addresses of a call in the first file that is not the system's.
    static func addresses(of stack: CallSites.Stack) -> CallPlace? {
        let queries = stack.addresses.indices.compactMap { query(stack, $0) }.filter { !isOfSystem($0.file) }
        guard let file = queries.first?.file else { return nil }
        return CallPlace(module: file, addresses: queries.filter { $0.file == file }.map(\.address))
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

    private func ask(_ queries: [Query]) -> [Query: [SymbolFrame]]? {
        guard !queries.isEmpty else { return [:] }
        let input = queries.map { "CODE \"\($0.file)\" 0x\(String($0.address, radix: 16))\n" }.joined()
        guard let program, let output = Self.output(of: program, arguments, to: input, within: timeout) else {
            return nil
        }
        let lines = output.split(separator: UInt8(ascii: "\n"))
        var answers: [Query: [SymbolFrame]] = [:]
        for (query, line) in zip(queries, lines) {
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(line))
            answers[query] = (answer?.Symbol ?? []).map { Self.frame($0, query) }
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
    private static let ofToolchain: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = [SwiftNames.toolchain.map { $0 + "/bin" }].compactMap { $0 } + path
        return folders.map { $0 + "/llvm-symbolizer" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
}

// MARK: - The program

extension Symbolizer {
    /// Returns the output of a program; nil if it fails to start or does not end in time, and then it is killed.
    static func output(of program: String, _ arguments: [String], to input: String, within timeout: Duration) -> Data? {
        let deadline = ContinuousClock.now + timeout
        // A file rather than a pipe: no thread has to write to a program that may hang or end.
        guard let file = tmpfile() else { return nil }
        defer { fclose(file) }
        let descriptor = fileno(file)
        guard fputs(input, file) >= 0, fflush(file) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        // Nothing is fetched from servers of debugging information.
        process.environment = [:]
        process.standardInput = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let answer = collect(from: output.fileHandleForReading.fileDescriptor, until: deadline)
        if answer == nil, process.isRunning { kill(process.processIdentifier, SIGKILL) }
        return answer
    }

    /// Returns the number of octets read, 0 at the end, or a negative number after an interruption.
    private static func readSome(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
        let count = read(descriptor, &buffer, buffer.count)
        return count < 0 && errno != EINTR ? 0 : count
    }

    /// Reads up to the end; nil if that does not come in time, or is too far away.
    private static func collect(from descriptor: Int32, until deadline: ContinuousClock.Instant) -> Data? {
        var (output, buffer) = (Data(), [UInt8](repeating: 0, count: 65_536))
        while output.count <= maximumOutput {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { return nil }
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&ready, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
            if count > 0 {
                let octets = readSome(descriptor, &buffer)
                guard octets != 0 else { return output }
                if octets > 0 { output.append(contentsOf: buffer.prefix(octets)) }
            }
            guard count >= 0 || errno == EINTR else { return nil }
        }
        return nil
    }
}

extension CommandLine {
    fileprivate static var executable: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}

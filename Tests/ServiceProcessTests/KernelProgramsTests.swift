import EventLoops
import Foundation
import HCITransports
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Real programs of the operating system.
@Suite struct KernelProgramsTests {
    private struct Outcome: Sendable {
        var process: Int32?
        var refusal: Int32?
        var end: ProgramEnd?
    }

    /// Runs a program to its end. `signal` is sent as soon as it has started.
    private func run(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        output: Program.Output = .discarded,
        hasDescriptors: Bool = true,
        signal: Int32? = nil
    ) async -> Outcome {
        let loop = NIOEventLoop()
        let program = Program(path: path, arguments: arguments, environment: environment, output: output)
        return await withCheckedContinuation { continuation in
            loop.submit {
                let programs =
                    hasDescriptors ? KernelPrograms(loop: loop) : KernelPrograms(loop: loop, descriptor: { _ in nil })
                var outcome = Outcome()
                programs.start(program) { event in
                    switch event {
                    case .started(let started):
                        outcome.process = started.process
                        if let signal { started.signal(signal) }
                    case .notStarted(let code):
                        outcome.refusal = code
                        continuation.resume(returning: outcome)
                    case .ended(let end):
                        outcome.end = end
                        continuation.resume(returning: outcome)
                    }
                }
            }
        }
    }

    /// Runs a script that writes to a file, and returns the file's content.
    private func written(
        by script: String,
        environment: [String: String] = [:],
        output: Program.Output = .discarded
    ) async throws -> String {
        let scratch = TemporaryDirectory.uncreated()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        let file = scratch.path + "/out"
        let arguments = ["-c", script, "sh", file]
        let outcome = await run("/bin/sh", arguments, environment: environment, output: output)
        #expect(outcome.end == .exited(status: 0), "\(outcome)")
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    @Test("a program's end is reported with its status or signal, and a failed start with the reason")
    func howProgramsEnd() async {
        #expect(await run("/bin/sh", ["-c", "exit 0"]).end == .exited(status: 0))
        #expect(await run("/bin/sh", ["-c", "exit 7"]).end == .exited(status: 7))
        #expect(await run("/bin/sh", ["-c", "kill -9 $$"]).end == .killed(signal: 9))
        #expect(await run("/bin/sleep", ["20"], signal: SIGTERM).end == .killed(signal: SIGTERM))
        #expect(await run("/bin/sh", ["-c", "exit 5"], hasDescriptors: false).end == .exited(status: 5))
        #expect(await run("/nowhere/program").refusal == ENOENT)
        #expect(await run("/etc/passwd").refusal == EACCES)
        #expect(await run("/bin/sh", ["-c", "exit 0\0"]).refusal == EINVAL)
        #expect(ProgramEnd.exited(status: 0).isSuccess)
        #expect(!ProgramEnd.killed(signal: 0).isSuccess)
    }

    @Test(
        "AB-G05: programs that close all descriptors are reaped too, a hundred at a time, and none stays a zombie"
    )
    func programsThatCloseTheirDescriptors() async {
        let script = "for n in 0 1 2 3 4 5 6 7 8 9; do eval \"exec $n>&-\"; done; sleep 0.2; exit 3"
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            for _ in 0..<100 { group.addTask { await run("/bin/sh", ["-c", script]) } }
            return await group.reduce(into: [Outcome]()) { $0.append($1) }
        }
        #expect(outcomes.count == 100)
        #expect(outcomes.allSatisfy { $0.end == .exited(status: 3) })
        // If the number has no process, the child was reaped, unless another program has reused the number.
        let children = outcomes.compactMap(\.process).filter { process in
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return stat?.contains(") Z \(getpid()) ") == true
        }
        #expect(children.isEmpty)
    }

    @Test("AB-G05: a program inherits only descriptors 0, 1 and 2, even if others are not closed on exec")
    func programsInheritOnlyStandardDescriptors() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let high = fcntl(ends[0], F_DUPFD, 200)
        defer { for descriptor in ends + [high] { close(descriptor) } }
        // The listing includes the descriptor of the shell's own file.
        let listed = try await written(by: "ls -1 /proc/self/fd > \"$1\"")
        #expect(high >= 200 && Set(listed.split(separator: "\n")).isSubset(of: ["0", "1", "2", "3"]), "\(listed)")
    }

    @Test(
        "AB-G05: a program starts with no signal blocked or ignored, from any thread, in its own process group"
    )
    func signalsOfAProgram() async throws {
        // SwiftNIO ignores it for the whole process. Restoring an earlier disposition could undo that, and the closed
        // socket of another test would then end the process.
        signal(SIGPIPE, SIG_IGN)
        let status = try await written(
            by: "grep -E '^Sig(Blk|Ign)' /proc/self/status > \"$1\"; ps -o pgid= $$ >> \"$1\"; echo $$ >> \"$1\""
        )
        let lines = status.split(separator: "\n").map { $0.split(separator: "\t").last.map(String.init) ?? "" }
        // The C library reserves signals 32 and 33.
        let masks = lines.prefix(2).map { (UInt64($0, radix: 16) ?? .max) & ~(3 << 31) }
        #expect(masks == [0, 0], "\(status)")
        #expect(lines.count == 4 && lines[2].trimmingCharacters(in: .whitespaces) == lines[3], "\(status)")
    }

    @Test("a program gets exactly the environment it is given")
    func theEnvironmentOfAProgram() async throws {
        let text = try await written(
            by: "/usr/bin/env > \"$1\"",
            environment: ["A": "1", "HARALD_RESTORE": "{\"x\": \"y z\"}"]
        )
        let lines = Set(text.split(separator: "\n").filter { !$0.hasPrefix("PWD=") && !$0.hasPrefix("_=") })
        #expect(lines.isSuperset(of: ["A=1", "HARALD_RESTORE={\"x\": \"y z\"}"]) && !text.contains("PATH="), "\(text)")
    }

    @Test("a systemctl that does not respond is ended after a time-out, and counts as failed")
    func systemdThatDoesNotAnswer() {
        let loop = VirtualEventLoop()
        let programs = StubPrograms(loop: loop)
        let units = UserUnits(loop: loop, programs: programs)
        var results: [Bool] = []
        for _ in 0..<2 { units.perform(.freeze, on: "app-harald-a.service") { results.append($0) } }
        loop.run(for: .milliseconds(10))
        let program = programs.runs[0].program
        #expect(program.arguments == ["--user", "--quiet", "freeze", "--", "app-harald-a.service"])
        #expect(program.output == .discarded && program.environment["JOURNAL_STREAM"] == nil)
        programs.end(.exited(status: 0))
        loop.run(for: .milliseconds(4_980))
        #expect(results == [true])
        #expect(programs.signals.isEmpty)
        loop.run(for: .milliseconds(20))
        #expect(programs.signals == [SIGTERM])
        programs.end(.killed(signal: SIGTERM))
        #expect(results == [true, false])
        programs.refusal = ENOENT
        units.perform(.thaw, on: "x") { results.append($0) }
        loop.run(for: .milliseconds(10))
        #expect(results == [true, false, false])
    }
}

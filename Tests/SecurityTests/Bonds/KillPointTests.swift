import Foundation
import Testing

@Suite struct KillPointTests {
    /// At least a thousand child processes, each killed by SIGKILL at a different boundary between system calls.
    @Test(.timeLimit(.minutes(2)))
    func bonds_survive_a_kill_at_every_system_call() throws {
        let tool = try #require(Self.tool)
        let directory = try TestDirectory()
        let process = Process()
        process.executableURL = tool
        process.arguments = [directory.path, "1000", "1"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
        let lines = said.split(separator: "\n")
        let points = try lines.map { try #require(Int($0.split(separator: " ").first ?? ""), "\(said)") }
        try #require(points.count == 2, "\(said)")
        #expect(points[0] >= 500 && points[1] >= 1000, "\(said)")
    }

    /// The tool is built next to the tests.
    private static var tool: URL? {
        let beside = Bundle.allBundles.map(\.bundleURL) + [Bundle.main.executableURL].compactMap { $0 }
        return beside.map { $0.deletingLastPathComponent().appendingPathComponent("BondKillPoints") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

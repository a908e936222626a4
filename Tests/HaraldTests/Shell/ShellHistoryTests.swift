import Foundation
import Testing

@testable import harald

@Suite struct ShellHistoryTests {
    /// Runs `body` with a history in a new folder.
    private func withHistory(_ body: (ShellHistory, String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/harald/shell-history"
        try body(ShellHistory(path: path), path)
    }

    @Test("lines are kept in a file that only the user can read")
    func keeping() throws {
        try withHistory { history, path in
            #expect(history.lines() == [])
            for line in ["scan", "scan", "read Pulse 2A38", "scan"] { history.add(line) }
            #expect(history.lines() == ["scan", "read Pulse 2A38", "scan"])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let folder = (path as NSString).deletingLastPathComponent
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["shell-history"])
        }
    }

    @Test(
        "lines with secrets, and those that begin with a space, are not kept",
        arguments: [
            "", " write Pulse FFE1 00", "pair Pulse --answer 123456", "pair Pulse --answer=123456",
            "pair Pulse '--ans'\"wer\" 123456", "pair Pulse --oob 00", "123456", "123 456", "a\u{1B}b", "a\nb",
            String(repeating: "x", count: ShellHistory.maximumLength + 1),
        ]
    )
    func notKeeping(line: String) {
        #expect(!ShellHistory.keeps(line))
    }

    @Test("the file is bounded: the oldest lines are lost, and one that is too large is not read")
    func bounds() throws {
        try withHistory { history, path in
            history.add("first")
            let many = (0..<ShellHistory.maximumLines).map { "scan --timeout \($0 + 1)" }
            try Data((["first"] + many).joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
            history.add("last")
            #expect(history.lines().count == ShellHistory.maximumLines)
            #expect(history.lines().first == "scan --timeout 2" && history.lines().last == "last")
            try Data(repeating: 0x61, count: 2 << 20).write(to: URL(fileURLWithPath: path))
            #expect(history.lines() == [])
        }
    }

    @Test("a file that is a link, or no file, is not read; a folder that cannot be made loses the line")
    func strangeFiles() throws {
        try withHistory { history, path in
            history.add("scan")
            let link = path + "-link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            #expect(ShellHistory(path: link).lines() == [])
            #expect(ShellHistory(path: (path as NSString).deletingLastPathComponent).lines() == [])
            #expect(!ShellHistory(path: path + "/below/history").add("scan"))
        }
    }

    @Test func theFileIsInTheStateDirectory() {
        #expect(StateDirectory.history(environment: ["HOME": "/home/a"]) == "/home/a/.local/state/harald/shell-history")
        #expect(StateDirectory.history(environment: ["XDG_STATE_HOME": "/s"]) == "/s/harald/shell-history")
    }
}

import Dispatch
import Foundation
import Logging
import TestBasics
import Testing

@testable import harald

/// Tests of the log of `harald service`.
@Suite struct ServiceLogTests {
    private func written(_ form: ServiceLogForm, _ body: (Logger) -> Void) -> [String] {
        let lines = Notes<String>()
        body(
            Logger(label: "test") { _ in
                ServiceLogHandler(form) { line, isError in lines.add("\(isError) \(line)") }
            }
        )
        return lines.all
    }

    @Test("a service logs notices, warnings and errors: to the journal with their priority, to a terminal as words")
    func forms() {
        func log(_ logger: Logger) {
            logger.debug("no")
            logger.info("no")
            logger.notice("a")
            logger.warning("b", metadata: ["y": "2", "x": "1"])
            logger.error("c")
            logger.critical("d")
        }
        #expect(written(.journal, log) == ["false <5>a", "false <4>b x=1 y=2", "true <3>c", "true <2>d"])
        #expect(
            written(.terminal, log) == [
                "false harald: notice: a", "false harald: warning: b x=1 y=2", "true harald: error: c",
                "true harald: critical: d",
            ]
        )
    }

    @Test("standard error counts as the journal only if JOURNAL_STREAM names it")
    func journal() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("journal")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let handle = try #require(FileHandle(forReadingAtPath: path))
        let descriptor = handle.fileDescriptor
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let device = try #require(attributes[.systemNumber] as? NSNumber)
        let inode = try #require(attributes[.systemFileNumber] as? NSNumber).intValue
        func isJournal(_ text: String?) -> Bool {
            ServiceLogForm.isJournal(environment: text.map { ["JOURNAL_STREAM": $0] } ?? [:], descriptor: descriptor)
        }
        #expect(isJournal("\(device):\(inode)"))
        #expect(!isJournal("\(device):\(inode + 1)") && !isJournal("") && !isJournal(nil))
        #expect(!ServiceLogForm.isJournal(environment: ["JOURNAL_STREAM": "0:0"], descriptor: -1))
    }

    @Test(
        "AB-G05: logging does not wait for a stalled terminal, and errors are kept while notices are dropped"
    )
    func aTerminalThatStandsStill() {
        let (lines, gate) = (Notes<String>(), DispatchSemaphore(value: 0))
        let queue = LogLineQueue { line in
            gate.wait()
            lines.add(line)
            gate.signal()
        }
        let count = LogLineQueue.maximumLines
        for number in 0..<10 * count { queue.add("notice \(number)", isError: false) }
        queue.add("error", isError: true)
        queue.finish(within: 0.01)
        #expect(lines.all.isEmpty)
        gate.signal()
        queue.finish(within: 60)
        let written = lines.all
        // The thread had written some entries before it stalled.
        #expect(written.count >= count + 2)
        #expect(written.count <= 2 * count + 3)
        #expect(written.contains("error"))
        #expect(written.last?.contains("were lost") == true)
        let lost = written.compactMap { $0.contains("were lost") ? Int($0.split(separator: " ")[1]) : nil }.reduce(0, +)
        #expect(lost + written.count { $0.hasPrefix("notice") } == 10 * count)
    }
}

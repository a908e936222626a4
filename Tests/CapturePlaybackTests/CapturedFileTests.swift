import EventLoops
import Foundation
import HCI
import Testing

@testable import CapturePlayback

/// Capture files that are not what they should be.
@Suite struct CapturedFileTests {
    @Test("AB-F03, AB-F04: a pipe, a device or a directory in place of a capture is refused at once")
    func noFiles() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", "/dev/null", "/tmp"] {
            let error = #expect(throws: CapturedControllerError.self) { try CapturedController(contentsOfFile: path) }
            #expect(error.map { "\($0)" }?.contains("not a regular file") == true, "\(path)")
        }
    }

    @Test("AB-F04: a capture that is longer than what fits in memory is refused before its end")
    func longFiles() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 0)
        let record = writer.record(HCIPacket(Reset()), .hostToController, at: .zero)
        let octets = writer.header + [[UInt8]](repeating: record, count: 10_000).joined()
        try Data(octets).write(to: URL(fileURLWithPath: path))
        #expect(try CapturedController(contentsOfFile: path, atMost: octets.count).packets == 10_000)
        let error = #expect(throws: CapturedControllerError.self) {
            try CapturedController(contentsOfFile: path, atMost: octets.count - 1)
        }
        #expect(error.map { "\($0)" }?.contains("is longer than") == true)
    }
}

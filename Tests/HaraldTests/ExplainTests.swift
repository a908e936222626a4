import BluetoothTypes
import CaptureStory
import Foundation
import HCI
import Synchronization
import TestBasics
import Testing

@testable import harald

/// `harald explain` with captures of a virtual world.
@Suite struct ExplainTests {
    /// The lines that are printed about a capture.
    private func told(_ octets: [UInt8], connection: Int? = nil, isBrief: Bool = false, json: Bool = false) throws
        -> [String]
    {
        let lines = Mutex<[String]>([])
        let report = ToolReport(json: json) { line in lines.withLock { $0.append(line) } }
        var explanation = Explanation(report, connection: connection, isBrief: isBrief)
        for record in try CaptureReader.records(of: octets) { explanation.receive(record) }
        explanation.finish(isCut: false)
        return lines.withLock { $0 }
    }

    private func session(seed: UInt64 = 3) -> HeartRateWorld {
        let session = HeartRateWorld(seed: seed, isSniffed: true, rates: 3)
        _ = session.runToTheEnd()
        return session
    }

    @Test func oneSeedGivesTheSameStory() throws {
        let (first, second) = (session(), session())
        #expect(try told(first.phoneCapture.bytes) == told(second.phoneCapture.bytes))
        #expect(try told(first.airCapture.bytes) == told(second.airCapture.bytes))
    }

    @Test("the brief story of a phone that pairs with a sensor is the recorded one")
    func theStoryOfTheDemo() throws {
        let lines = try told(session().phoneCapture.bytes, isBrief: true)
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Explained.txt")
        // To record it anew, write the lines there by hand from `harald explain --brief`.
        let golden = try String(contentsOf: url, encoding: .utf8)
        #expect(lines.joined(separator: "\n") + "\n" == golden)
    }

    @Test("the story of one connection has no other, and no devices")
    func oneConnection() throws {
        let capture = session().phoneCapture.bytes
        let lines = try told(capture, connection: 2)
        #expect(lines.contains { $0.contains("#2") })
        #expect(!lines.contains { $0.contains("#1") })
        #expect(!lines.contains("\nDevices"))
    }

    @Test("each line of the JSON is an object with its kind, and the last one has the totals")
    func theJSON() throws {
        let capture = session().phoneCapture.bytes
        let lines = try told(capture, json: true)
        let events = try lines.map { line -> String in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["event"] as? String ?? ""
        }
        #expect(Set(events) == ["entry", "capturedDevice", "capturedConnection", "explained"])
        #expect(events.last == "explained")
        let totals = try #require(lines.last)
        let records = try CaptureReader.records(of: capture).count
        #expect(totals.contains("\"records\":\(records),"))
    }
}

import BluetoothSimulation
import BluetoothTypes
import CaptureStory
import Foundation
import HCI
import LinkLayer
import Synchronization
import TestBasics
import Testing

@testable import harald

/// `harald explain` with captures of a virtual world.
@Suite struct ExplainTests {
    /// The lines that are printed about a capture.
    private func told(
        _ octets: [UInt8],
        connection: Int? = nil,
        isBrief: Bool = false,
        json: Bool = false,
        isStreamed: Bool = false
    ) throws -> [String] {
        let lines = Mutex<[String]>([])
        let report = ToolReport(json: json) { line in lines.withLock { $0.append(line) } }
        let records = try CaptureReader.records(of: octets)
        let verdict = isStreamed ? nil : judged(records, connection)
        var explanation = Explanation(report, connection: connection, isBrief: isBrief, verdict: verdict)
        for record in records { explanation.receive(record) }
        explanation.finish(isCut: false)
        return lines.withLock { $0 }
    }

    private func judged(_ records: [CaptureRecord], _ connection: Int? = nil) -> Verdict {
        var story = CaptureStory(isBrief: true)
        for record in records { _ = story.receive(record) }
        _ = story.finish()
        return story.verdict(of: connection)
    }

    private func verdict(on recording: Recording) throws -> Verdict {
        judged(try CaptureReader.records(of: recording.bytes))
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
        #expect(Set(events) == ["verdict", "entry", "capturedDevice", "capturedConnection", "explained"])
        #expect(events.first == "verdict")
        #expect(events.last == "explained")
        #expect(lines.last?.contains("\"verdict\":\"succeeded\"") == true)
        let totals = try #require(lines.last)
        let records = try CaptureReader.records(of: capture).count
        #expect(totals.contains("\"records\":\(records),"))
    }

    @Test("the verdict on a session is the same for both ends and on the air: nothing failed", arguments: 1...5)
    func healthySessions(seed: UInt64) throws {
        let session = session(seed: seed)
        for recording in [session.phoneCapture, session.sensorCapture, session.airCapture, session.nearCapture] {
            let verdict = try verdict(on: recording)
            #expect(verdict.outcome == .succeeded, "\(verdict.lines)")
            #expect(verdict.lines.count == 1)
        }
    }

    @Test("the verdict on a session whose users decline to pair names the pairing, for both ends")
    func declinedPairing() throws {
        let session = HeartRateWorld(seed: 3, isSniffed: true, rates: 3, pairs: false)
        _ = session.runToTheEnd()
        for recording in [session.phoneCapture, session.sensorCapture] {
            let verdict = try verdict(on: recording)
            #expect(verdict.outcome == .failed)
            #expect(verdict.attempted.hasPrefix("pairing with"), "\(verdict.lines)")
        }
    }

    @Test("the verdict on a link that is lost in one direction names the loss, at the phone and on the air")
    func lostLink() throws {
        let session = HeartRateWorld(seed: 5, isSniffed: true)
        session.world.run(for: .seconds(5))
        session.world.setQuality(AirQuality(lossRate: 1), from: session.phone, to: session.sensor)
        _ = session.runToTheEnd()
        for recording in [session.phoneCapture, session.airCapture] {
            let verdict = try verdict(on: recording)
            #expect(verdict.outcome == .failed)
            #expect(verdict.attempted.hasPrefix("keeping the connection to"), "\(verdict.lines)")
        }
    }

    @Test("a story that is read from a pipe has its verdict at the end")
    func streamed() throws {
        let capture = session().phoneCapture.bytes
        let lines = try told(capture, isStreamed: true)
        #expect(lines.firstIndex { $0.hasPrefix("Nothing failed: ") } ?? 0 > lines.count / 2)
        #expect(try told(capture).first?.hasPrefix("Nothing failed: ") == true)
    }
}

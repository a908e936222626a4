import BluetoothSimulation
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

    /// The lines about the causes of a packet.
    private func why(_ number: Int, in octets: [UInt8], json: Bool = false) throws -> [String] {
        let lines = Mutex<[String]>([])
        let report = ToolReport(json: json) { line in lines.withLock { $0.append(line) } }
        let records = try CaptureReader.records(of: octets)
        var explanation = WhyExplanation(of: number)
        for record in records { explanation.receive(record) }
        var words = CaptureWords(of: explanation.shown)
        for record in records { words.receive(record) }
        explanation.show(words.words, in: report)
        #expect(explanation.packets == records.count)
        #expect(explanation.isFound == (1...records.count).contains(number))
        return lines.withLock { $0 }
    }

    @Test("the causes of a value lead over the subscription and the connection to the scan, in words and in JSON")
    func causesOfAValue() throws {
        let capture = session().phoneCapture.bytes
        let records = try CaptureReader.records(of: capture)
        let isValue: (CaptureRecord) -> Bool = { $0.packet?.kind == .acl && $0.packet?.bytes.octet(at: 8) == 0x1B }
        let number = try #require(records.firstIndex(where: isValue)) + 1
        let lines = try why(number, in: capture)
        #expect(lines.first?.contains("packet \(number) at ") == true)
        #expect(lines.first?.contains("Handle Value Notification") == true)
        let steps = lines.filter { $0.hasPrefix("packet ") }
        #expect(steps[1].contains("Write Request"))
        #expect(lines.contains { $0.contains("the value was subscribed to [Core Vol 3 Part G 3.3.3.3]") })
        #expect(steps.contains { $0.contains("Advertising Report") })
        #expect(steps.last?.contains("Scan Enable") == true)
        #expect(lines.contains { $0.hasSuffix("the capture does not tell why") })
        let documents = try why(number, in: capture, json: true)
        #expect(documents.count == steps.count)
        #expect(documents[0].contains("\"relation\":\"packet\""))
        #expect(documents.dropFirst().allSatisfy { $0.contains("\"relation\":\"cause\"") })
    }

    @Test("a packet has its effects, and one that is not there has nothing")
    func effectsOfAPacket() throws {
        let capture = session().phoneCapture.bytes
        let records = try CaptureReader.records(of: capture)
        let isScan: (CaptureRecord) -> Bool = { record in
            guard let packet = record.packet, packet.kind == .command else { return false }
            return [0x200C, 0x2042].contains(packet.bytes.word(at: 0)) && packet.bytes.octet(at: 3) == 1
        }
        let number = try #require(records.firstIndex(where: isScan)) + 1
        let lines = try why(number, in: capture)
        let begin = try #require(lines.firstIndex(of: "Caused by packet \(number):"))
        #expect(lines[begin + 1].contains("Command Complete"))
        #expect(try why(records.count + 1, in: capture).isEmpty)
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

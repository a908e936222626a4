import BluetoothTypes
import CaptureStory
import HCI
import TestBasics
import Testing

@testable import harald

/// `harald redact` with captures of a virtual world.
@Suite struct RedactTests {
    @Test("the redacted capture of a session tells the same connections, and has neither names nor addresses of it")
    func theRedactedCapture() throws {
        let session = HeartRateWorld(seed: 3, rates: 3)
        #expect(session.runToTheEnd() == true)
        let capture = session.phoneCapture.bytes
        let records = try CaptureReader.records(of: capture)
        var keys = RedactionKeys()
        for record in records { keys.learn(record) }
        var redactor = CaptureRedactor(seed: Array(1...32), keys: keys)
        let result = records.flatMap { redactor.receive($0) } + redactor.finish()
        let file = RedactedFile(like: records[0])
        let copy = file.header + result.flatMap { file.record($0) ?? [] }
        func story(_ octets: [UInt8]) throws -> CaptureStory {
            var story = CaptureStory()
            for record in try CaptureReader.records(of: octets) { _ = story.receive(record) }
            _ = story.finish()
            return story
        }
        let (before, after) = (try story(capture), try story(copy))
        #expect(before.totals == after.totals)
        #expect(before.links.map(\.reason) == after.links.map(\.reason))
        #expect(before.links.map(\.pairing) == after.links.map(\.pairing))
        #expect(before.links.map(\.table) == after.links.map(\.table))
        // Devices are resolved as before, by the replacements of the keys.
        let resolved = before.devices.filter { $0.identity != nil }.count
        #expect(resolved > 0)
        #expect(after.devices.filter { $0.identity != nil }.count == resolved)
        #expect(!copy.indices.contains { copy[$0...].starts(with: Array("Harald HR".utf8)) })
        for device in before.devices {
            let address = device.address.littleEndianBytes
            #expect(!copy.indices.contains { copy[$0...].starts(with: address) })
        }
        for key in keys.keys { #expect(!copy.indices.contains { copy[$0...].starts(with: key) }) }
    }
}

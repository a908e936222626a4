import BluetoothTypes
import CaptureStory
import HCI
import TestBasics
import Testing

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
        var file = RedactedFile(like: records[0])
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

    @Test("a redacted capture of the air tells the same connections, and has neither names nor addresses of it")
    func theRedactedAir() throws {
        let session = HeartRateWorld(seed: 3, isSniffed: true, rates: 3)
        #expect(session.runToTheEnd() == true)
        let records = try CaptureReader.records(of: session.airCapture.bytes)
        var redactor = CaptureRedactor(seed: Array(1...32), keys: RedactionKeys())
        let result = records.flatMap { redactor.receive($0) } + redactor.finish()
        var file = RedactedFile(like: records[0], hasFrames: true)
        let copy = file.header + result.flatMap { file.record($0) ?? [] }
        func story(_ records: [CaptureRecord]) -> (entries: [StoryEntry.Kind], story: CaptureStory) {
            var story = CaptureStory()
            let entries = records.flatMap { story.receive($0) } + story.finish()
            return (entries.map(\.kind), story)
        }
        let (before, after) = (story(records), story(try CaptureReader.records(of: copy)))
        #expect(before.entries == after.entries)
        #expect(before.story.totals == after.story.totals)
        #expect(before.story.links.map(\.reason) == after.story.links.map(\.reason))
        #expect(before.story.links.map(\.unreadable) == after.story.links.map(\.unreadable))
        #expect(before.story.links.map(\.table) == after.story.links.map(\.table))
        #expect(redactor.leftOut == 0)
        // Names of devices are comments there.
        for name in ["Harald HR", "Phone"] {
            #expect(!copy.indices.contains { copy[$0...].starts(with: Array(name.utf8)) })
        }
        for device in before.story.devices {
            let address = device.address.littleEndianBytes
            #expect(!copy.indices.contains { copy[$0...].starts(with: address) })
        }
    }
}

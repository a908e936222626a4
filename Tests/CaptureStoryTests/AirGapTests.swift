import BluetoothTypes
import EventLoops
import Testing

@testable import CaptureStory
@testable import HCI

/// Captures of a sniffer that misses frames: whatever the story says of what it heard is true of the whole link, or the
/// story says that it cannot be known. Ciphertext is never read as a PDU, and the redactor leaves nothing behind.
@Suite struct AirGapTests {
    private static let seeds: [UInt64] = Array(1...10)
    private static let pairs = 12
    private static let key: [UInt8] = Array(1...32)

    @Test("whichever frame a sniffer misses, nothing that is said contradicts the complete capture", arguments: seeds)
    func eachFrame(seed: UInt64) {
        let script = AirScript(seed: seed)
        let complete = Told(script.records)
        #expect(complete.summary?.missing == 0)
        #expect(complete.entries.count > 10)
        // Without the advertisement the device has no name, and another text.
        for index in script.records.indices.dropFirst() {
            check(script, complete, without: [index])
        }
    }

    @Test("whichever two frames a sniffer misses, nothing contradicts the complete capture", arguments: seeds)
    func pairsOfFrames(seed: UInt64) {
        let script = AirScript(seed: seed)
        let complete = Told(script.records)
        let random = RandomSource(seed: seed &+ 1_000)
        for number in 0..<Self.pairs {
            let first = 1 + Int(random.below(UInt64(script.records.count - 1)))
            // Half of the pairs are close to each other, where they can hide each other.
            let other =
                number.isMultiple(of: 2)
                ? first + 1 + Int(random.below(4)) : 1 + Int(random.below(UInt64(script.records.count - 1)))
            check(script, complete, without: [first, min(other, script.records.count - 1)])
        }
    }

    @Test("however many frames in a row a sniffer misses, nothing contradicts the complete capture", arguments: seeds)
    func longGaps(seed: UInt64) {
        let script = AirScript(seed: seed)
        let complete = Told(script.records)
        let random = RandomSource(seed: seed &+ 2_000)
        for _ in 0..<Self.pairs {
            let first = 1 + Int(random.below(UInt64(script.records.count - 1)))
            let count = 3 + Int(random.below(30))
            check(script, complete, without: Set(first..<min(first + count, script.records.count)))
        }
    }

    @Test("the frame that the redactor and the story disagreed on is a new packet for both")
    func theSameNumberWithOtherContents() throws {
        let script = AirScript(seed: 1)
        let start = try #require(script.records.firstIndex { script.payload(of: $0) == [0x05] })
        let side = script.sides[start]
        let before = (0..<start).filter { script.sides[$0] == side && script.isNew[$0] }
        let told = Told(script.records.enumerated().filter { $0.offset != before.last }.map(\.element))
        #expect(told.entries.contains { $0.text.hasPrefix("encrypted from here on") })
        #expect(told.summary?.repeats == Told(script.records).summary?.repeats)
        #expect(told.summary.map { $0.missing > 0 } == true)
    }

    // MARK: Checks

    /// The story of a capture, at its end.
    private struct Told {
        let entries: [StoryEntry]
        let links: [LinkSummary]

        init(_ records: [CaptureRecord]) {
            var story = CaptureStory()
            var entries = records.flatMap { story.receive($0) }
            entries += story.finish()
            (self.entries, links) = (entries, story.links)
        }

        var summary: LinkSummary? { links.first }
    }

    private func check(_ script: AirScript, _ complete: Told, without missed: Set<Int>) {
        let records = script.records.indices.filter { !missed.contains($0) }.map { script.records[$0] }
        let told = Told(records)
        let comment = Comment(rawValue: "seed \(script.seed), without \(missed.sorted())")
        for entry in told.entries where !Self.isHedged(entry) {
            let like = complete.entries.contains { Self.agrees(entry, with: $0, script) }
            #expect(like, "\(comment): \(entry.line)")
        }
        if let summary = told.summary, let whole = complete.summary { check(summary, whole, script, comment) }
        check(script, redacted: records, comment)
        // The dissector gets no times, so that it notices no gap in which the numbers come round.
        if missed.count <= 2 { check(script, dissected: records, comment) }
    }

    /// Whether an entry says that it is about what was heard.
    private static func isHedged(_ entry: StoryEntry) -> Bool {
        // Values of a stream have an entry for the first one that was heard, which need not be the first one.
        if entry.kind == .notification, !entry.text.hasSuffix("for the first time") { return true }
        return ["no response was heard", "no data heard for", "may be encrypted", "whose beginning is missing"]
            .contains(where: entry.text.contains)
    }

    private static func agrees(_ entry: StoryEntry, with whole: StoryEntry, _ script: AirScript) -> Bool {
        // A packet whose first transmission was missed is told where it is sent again.
        guard script.original(of: Int(entry.offset)) == Int(whole.offset), entry.kind == whole.kind,
            entry.value == whole.value, entry.section == whole.section,
            entry.latency == nil || entry.latency == whole.latency
        else { return false }
        if entry.text == whole.text { return true }
        // The time since a beginning that was missed, and the direction of a PHY that is no longer certain.
        switch entry.kind {
        case .disconnected: return whole.text.hasSuffix(entry.text.dropFirst("disconnected".count))
        case .phy: return whole.text.contains(entry.text.dropFirst("PHY: ".count))
        default: return false
        }
    }

    private func check(_ summary: LinkSummary, _ whole: LinkSummary, _ script: AirScript, _ comment: Comment) {
        let numbers = [
            (summary.operations, whole.operations), (summary.errors, whole.errors),
            (summary.retries, whole.retries), (summary.repeats, whole.repeats),
            (summary.unreadable, whole.unreadable),
            // Acknowledgements after the end of the link count if the end was not heard.
            (summary.emptyPDUs, script.records.count { script.payload(of: $0).isEmpty }),
        ]
        for (number, all) in numbers + zip(summary.flows, whole.flows).map({ ($0.octets, $1.octets) }) {
            #expect(number <= all, "\(comment): \(summary.lines)")
        }
        if summary.isProtectionKnown, summary.isEncrypted != whole.isEncrypted {
            #expect(summary.isEncrypted == false && summary.end == nil, "\(comment): \(summary.lines)")
        }
        let lines = summary.lines
        #expect((summary.missing > 0) == lines.contains { $0.contains("packets were missed at") }, comment)
        guard summary.missing == 0, summary.end != nil, summary.interval != nil else { return }
        // The end of a link that ends with its supervision timeout is not heard in any case.
        guard summary.reason == whole.reason else { return }
        #expect(summary.mtu == whole.mtu, comment)
        #expect(summary.interval == whole.interval, comment)
        #expect(summary.pairing == whole.pairing, comment)
    }

    private func check(_ script: AirScript, redacted records: [CaptureRecord], _ comment: Comment) {
        var redactor = CaptureRedactor(seed: Self.key, keys: RedactionKeys())
        let redacted = records.flatMap { redactor.receive($0) } + redactor.finish()
        #expect(redacted.count == records.count, comment)
        for record in redacted {
            guard case .frame(_, let octets) = record.content else { continue }
            let hasSecret = octets.indices.contains {
                octets[$0] == AirScript.secret[0] && octets.suffix(after: $0).starts(with: AirScript.secret)
            }
            #expect(!hasSecret, "\(comment): frame \(record.offset)")
        }
        for entry in Told(redacted).entries where script.isCiphertext[Int(entry.offset)] {
            #expect(Self.isHedged(entry), "\(comment): \(entry.line)")
        }
    }

    private func check(_ script: AirScript, dissected records: [CaptureRecord], _ comment: Comment) {
        guard script.linkType == AirFrame.withHeader else { return }
        var dissector = AirDissector()
        for record in records {
            guard case .frame(_, let octets) = record.content else { continue }
            let text = dissector.receive(octets).summary.text
            guard script.isCiphertext[Int(record.offset)] else { continue }
            #expect(text.hasPrefix("Encrypted") || text.hasPrefix("Possibly encrypted"), "\(comment): \(text)")
        }
    }
}

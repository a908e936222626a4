import Foundation
import Testing

/// Whether a run depends on its seed alone. Scripts/determinism compares runs on one core, on all cores, on a busy
/// machine, and under ThreadSanitizer.
@Suite struct SeededLivesTests {
    private static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
    private static func number(_ name: String) -> UInt64? { value(name).flatMap { UInt64($0) } }

    @Test(
        "a seed determines the story and all packets, under any load, even if processes of apps end at any time"
    )
    func oneSeedGivesOneStory() {
        guard Self.value("HARALD_DIGESTS") == nil else { return }
        for seed in 1...2 as ClosedRange<UInt64> {
            let (first, second) = (SeededLives.digests(seed: seed), SeededLives.digests(seed: seed))
            #expect(first.digests == second.digests)
            #expect(first.story == second.story)
            #expect(first.story.count > 20)
        }
    }

    /// `HARALD_DIGESTS` names the output file. `HARALD_FIRST_SEED` and `HARALD_SEEDS` select the worlds. If
    /// `HARALD_STORIES` names a directory, each world writes its story there.
    @Test("the digests of worlds are written to the files in the environment")
    func theDigestsAreWritten() throws {
        guard let path = Self.value("HARALD_DIGESTS") else { return }
        let first = Self.number("HARALD_FIRST_SEED") ?? 1
        var lines: [String] = []
        for seed in first..<first + (Self.number("HARALD_SEEDS") ?? 10) {
            let (digests, story) = SeededLives.digests(seed: seed)
            lines.append("\(seed) \(digests) lines=\(story.count)\n")
            guard let directory = Self.value("HARALD_STORIES") else { continue }
            let file = URL(fileURLWithPath: directory).appendingPathComponent("\(seed).txt")
            try Data((story.joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    }
}

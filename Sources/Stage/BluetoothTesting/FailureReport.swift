import Foundation
import Synchronization
import Testing

/// The explanation of a failure in a world: texts for the log, and files to keep.
struct FailureReport {
    /// The number of lines of the story in the log. The file has all of them.
    static let maximumLines = 60
    static let maximumName = 80

    let world: TestWorld

    /// The texts for a failure. A later failure of the same test has only what was not shown before.
    ///
    /// - Parameter shown: The lines of the story that earlier failures cover; nil for the first one. Updated.
    func comments(after shown: inout Int?) -> [String] {
        let time = "the world's time: \(WorldTime.text(world.story.time))"
        let lines = world.story.lines()
        let all = lines.count + world.story.dropped
        defer { shown = all }
        guard let shown else { return [repetition, time, story(lines, of: all, "the story"), misuse] + hints }
        return all > shown ? [time, story(lines, of: all - shown, "the story since the last failure")] : [time]
    }

    var repetition: String { Self.repetition(seed: world.seed, filter: world.filter) }

    /// Returns the text with a seed, and how to run a test again with it.
    static func repetition(
        seed: UInt64,
        filter: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        // The steps of a searched world depend on their number.
        let steps = "HARALD_SEARCH_STEPS"
        let setting = environment[steps].map { "\(steps)=\($0) " } ?? ""
        return "seed \(seed); to repeat: HARALD_SEED=\(seed) \(setting)swift test --filter '\(filter)'"
    }

    /// The report of a world's first failure, to be kept after the end of the world.
    var explanation: WorldExplanation {
        var shown: Int?
        return WorldExplanation(comments: comments(after: &shown), files: files)
    }

    private func story(_ lines: [String], of count: Int, _ name: String) -> String {
        guard !lines.isEmpty else { return "\(name) is empty: no device was added to the world" }
        let shown = lines.suffix(min(Self.maximumLines, count)).map { ShortValues.shortened($0) }
        let title = shown.count == count ? "\(name):" : "\(name), the last \(shown.count) of \(count) lines:"
        return ([title] + shown).joined(separator: "\n")
    }

    private var misuse: String {
        let lines = world.misuse
        guard !lines.isEmpty else { return "no app misused the API" }
        return (["misuse of the API:"] + lines.prefix(Self.maximumLines)).joined(separator: "\n")
    }

    /// The things that apps have left undone, which are often the cause of the failure.
    private var hints: [String] {
        let lines = world.story.hints
        return lines.isEmpty ? [] : [(["hints:"] + lines.map { "  \($0)" }).joined(separator: "\n")]
    }

    /// The captures, and the whole story.
    var files: [WorldFile] {
        let dropped = world.story.dropped
        let note = dropped > 0 ? ["(\(dropped) earlier lines were dropped)"] : []
        let text = ([repetition] + note + world.story.lines()).joined(separator: "\n") + "\n"
        let files = [WorldFile(name: "story.txt", octets: [UInt8](text.utf8))] + (world.recordings?.files ?? [])
        let start = "\(world.name.prefix(Self.maximumName)) seed \(world.seed)"
        return files.map { WorldFile(name: "\(start) \($0.name)".plain, octets: $0.octets) }
    }

    /// The whole story, and the size and digest of each capture: equal for two runs with the same packets.
    var comparableStory: String {
        let captures = (world.recordings?.files ?? []).map { file in
            "\(file.name): \(file.octets.count) octets, digest \(file.digest)"
        }
        // Messages about misuse have addresses of objects.
        let lines = world.story.lines().map { $0.replacing(/0x[0-9a-f]{8,}/, with: "0x…") }
        return (lines + captures).joined(separator: "\n") + "\n"
    }
}

extension String {
    /// The text with a hyphen for each run of characters that do not belong in the name of a file.
    fileprivate var plain: String {
        split { !($0.isASCII && ($0.isLetter || $0.isNumber)) && !"._".contains($0) }.joined(separator: "-")
    }
}

/// Worlds of tests that lack the trait ``Testing/Trait/world``. Such a test fails, but the others go on.
enum MissingWorlds {
    private static let last = Mutex<(test: Test.ID, world: TestWorld)?>(nil)

    /// Returns the world of the running test, which fails.
    static func world() -> TestWorld {
        guard let test = Test.current else {
            preconditionFailure(
                """
                there is no world here: use it in tasks of a test only, and not in Task.detached, threads or queues. \
                In XCTest, inherit from WorldTestCase
                """
            )
        }
        if let last = last.withLock({ $0 }), last.test == test.id { return last.world }
        let place = test.sourceLocation
        Issue.record(
            "\(test.name) has no world: give the test or its suite the trait .world, and use it in tasks of the test only",
            sourceLocation: place
        )
        let world = TestWorld(seed: WorldSeed.standard, name: test.name, .machine, keepsCaptures: false) {
            Issue.record(Comment(rawValue: $0.text), sourceLocation: $0.place ?? place)
        }
        last.withLock { $0 = (test.id, world) }
        return world
    }
}

/// Shortens the values in a story, so that its lines can be read.
enum ShortValues {
    /// The number of octets of a value that remain.
    static let maximumOctets = 32

    /// Returns a line in which each value with more octets is cut. The text that repeats such a value goes, too.
    static func shortened(_ line: String) -> String {
        guard line.utf8.count > 2 * maximumOctets else { return line }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.contains(where: isLong) else { return line }
        return line.replacing(/\b([0-9a-f]{66,})(?: "(?:[^"\\]|\\.)*")?/) { match in
            let digits = match.output.1
            return "\(digits.prefix(2 * maximumOctets))… (\(digits.utf8.count / 2) octets)"
        }
    }

    private static func isLong(_ word: Substring) -> Bool {
        word.utf8.count > 2 * maximumOctets && word.utf8.first.map { isDigit($0) } == true
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet)
    }
}

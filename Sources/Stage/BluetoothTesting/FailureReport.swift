import AppAdvice
import Foundation
import Synchronization
import Testing

/// The explanation of a failure in a world: texts for the log, the likely cause in front, and files to keep.
struct FailureReport {
    /// The number of lines of a report in the log, with those of the failure itself. The file has the whole story.
    static let maximumLines = 40
    /// The lines that are left for the failure itself: where it is, and at least two for what it says.
    static let failureLines = 3
    private static let minimumStory = 12
    static let maximumName = 80

    let world: TestWorld

    /// The texts for a failure. A later failure of the same test has only what was not shown before.
    ///
    /// - Parameters:
    ///   - shown: The number of events that earlier failures cover; nil for the first one. Updated.
    ///   - failure: The text of the failure itself.
    func comments(after shown: inout Int?, to failure: String = "") -> [String] {
        let time = "the world's time: \(WorldTime.text(world.story.time))"
        let all = world.story.count
        defer { shown = all }
        guard let shown else {
            let start = causes + [repetition, time]
            let story = story(from: 0, "the story", after: [failure] + start)
            return start + [story ?? "the story is empty: no device was added to the world"]
        }
        let story = story(from: shown, "the story since the last failure", after: [failure, time])
        return [time] + (story.map { [$0] } ?? [])
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

    /// Returns the story from an event on, in the room that other texts leave; nil if it tells nothing.
    private func story(from number: Int, _ name: String, after others: [String]) -> String? {
        let events = world.story.events(from: number)
        let lengths = others.map { $0.split(separator: "\n").count }
        let used = 2 + max(lengths[0], Self.failureLines - 1) + lengths[1...].reduce(0, +)
        let room = max(Self.minimumStory, Self.maximumLines - used)
        let lines = Story(of: events).digest(maximum: room, WorldTime.text)
        guard !lines.isEmpty else { return nil }
        let isWhole = lines.count == events.count && number >= world.story.dropped
        let title = isWhole ? "\(name):" : "\(name) of \(world.story.count - number) events, folded:"
        return ([title] + lines.map { ShortValues.shortened($0) }).joined(separator: "\n")
    }

    /// What has probably caused the failure: one text, which is the first of a report.
    private var causes: [String] {
        let hints = world.story.hints.map { ShortValues.shortened($0) }
        guard let first = hints.first else { return [] }
        return [(["likely cause: \(first)"] + hints.dropFirst().map { "or: \($0)" }).joined(separator: "\n")]
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

import AppAdvice
import Foundation

/// The results of a test of a device, for people and programs.
struct StepReport: Sendable {
    /// The number of lines of the story that a failure shows.
    private static let shownLines = 25

    let name: String
    let results: [StepResult]
    /// The events during the test, if the device was simulated.
    var story: [StoryEvent] = []

    func count(_ status: StepResult.Status) -> Int { results.count { $0.status == status } }

    var failure: StepResult? { results.first { $0.status == .failed } }

    /// The story of the step that failed: its own events, or the last ones before if it has none.
    var storyOfFailure: [String] {
        guard let failure, !story.isEmpty else { return [] }
        let own = Story(of: story.dropFirst(failure.storyStart))
        guard own.lines.isEmpty else { return own.digest(maximum: Self.shownLines, Self.clock) }
        return Story(of: story).digest(maximum: Self.shownLines, Self.clock)
    }

    /// The failure in one line, with the number and the name of the step.
    var summary: String? {
        failure.map { "step \($0.number) of \(results.count) failed: \($0.name): \($0.message ?? "")" }
    }

    // MARK: For people

    static func line(_ result: StepResult) -> String {
        let status =
            switch result.status {
            case .passed: "passed "
            case .failed: "FAILED "
            case .skipped: "skipped"
            }
        let number = String(repeating: " ", count: max(0, 3 - "\(result.number)".count)) + "\(result.number)"
        return "\(status) \(number)  \(result.name)\(result.message.map { ": \($0)" } ?? "")"
    }

    /// The lines after those of the steps.
    var lines: [String] {
        let counts = "\(count(.passed)) passed, \(count(.failed)) failed, \(count(.skipped)) skipped"
        let story = storyOfFailure
        return story.isEmpty
            ? [counts] : ["the events during the step that failed:"] + story.map { "  \($0)" } + [counts]
    }

    // MARK: JUnit

    /// The results in the format of JUnit, as servers for continuous integration read it: a test case for each step.
    var junit: String {
        let total = results.reduce(Duration.zero) { $0 + $1.duration }
        let counts =
            "tests=\"\(results.count)\" failures=\"\(count(.failed))\" errors=\"0\" skipped=\"\(count(.skipped))\" "
            + "time=\"\(Self.seconds(total))\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites \(counts)>",
            "  <testsuite name=\"\(Self.escaped(name))\" \(counts)>",
        ]
        for result in results { lines += testCase(result) }
        if !story.isEmpty {
            let text = story.map { "\(Self.clock($0.time)) \($0.text)" }.joined(separator: "\n")
            lines.append("    <system-out>\(Self.escaped(text))</system-out>")
        }
        return (lines + ["  </testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    private func testCase(_ result: StepResult) -> [String] {
        let title = Self.escaped("\(result.number) \(result.name)")
        let start =
            "    <testcase classname=\"\(Self.escaped(name))\" name=\"\(title)\" time=\"\(Self.seconds(result.duration))\""
        switch result.status {
        case .passed: return ["\(start)/>"]
        case .skipped: return ["\(start)>", "      <skipped/>", "    </testcase>"]
        case .failed:
            let message = Self.escaped(result.message ?? "")
            let details = Self.escaped(([result.message ?? ""] + storyOfFailure).joined(separator: "\n"))
            return ["\(start)>", "      <failure message=\"\(message)\">\(details)</failure>", "    </testcase>"]
        }
    }

    private static func seconds(_ duration: Duration) -> String { String(format: "%.3f", duration.seconds) }

    private static func clock(_ time: Duration) -> String { String(format: "%8.3f ", time.seconds) }

    /// Returns a text for XML. Characters that XML 1.0 does not allow (2.2) become U+FFFD.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\u{9}", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                result.unicodeScalars.append(scalar)
            default: result += "\u{FFFD}"
            }
        }
    }
}

/// The result of a step, as an object of JSON.
struct StepDocument: ReportDocument {
    static let event = "step"

    let number: Int
    let name: String
    let status: StepResult.Status
    let seconds: Double
    let message: String?

    init(_ result: StepResult) {
        number = result.number
        name = result.name
        status = result.status
        // In whole milliseconds, as JUnit has it.
        seconds = (result.duration.seconds * 1_000).rounded() / 1_000
        message = result.message
    }
}

/// The end of a test of a device.
struct TestedDocument: ReportDocument {
    static let event = "tested"

    let name: String
    let passed: Int
    let failed: Int
    let skipped: Int
    /// The events during the step that failed.
    let story: [String]

    init(_ report: StepReport) {
        name = report.name
        passed = report.count(.passed)
        failed = report.count(.failed)
        skipped = report.count(.skipped)
        story = report.storyOfFailure
    }
}

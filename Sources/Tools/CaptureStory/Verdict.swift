import BluetoothTypes

/// What a capture shows: what was attempted, whether it worked, and why not.
package struct Verdict: Hashable, Sendable {
    package enum Outcome: String, Sendable {
        case succeeded
        case failed
        /// Nothing came of what was attempted, which is no fault of anything in the capture.
        case fruitless

        fileprivate var title: String {
            switch self {
            case .succeeded: "Nothing failed"
            case .failed: "Failed"
            case .fruitless: "Without result"
            }
        }
    }

    package var outcome: Outcome
    /// The time that the times of its lines count from, in microseconds since the Unix epoch.
    var begin: Int64
    /// What was attempted; after a success, what happened.
    package var attempted: String
    /// The cause of a failure. After a success, the connection that was lost and made again, if there was one.
    package var cause: StoryEvidence?
    /// What followed from the cause.
    package var effect: StoryEvidence?
    /// The connection that failed.
    package var connection: Int?
    /// The further failures, and the packet that shows the next of them.
    package var others = 0
    package var nextPacket: Int?

    /// The verdict in one line after a success, and in up to three otherwise.
    package var lines: [String] {
        var lines = ["\(outcome.title): \(attempted)"]
        if let cause {
            let lead = outcome == .succeeded ? "Recovered" : "Why"
            lines.append("\(lead): \(text(cause))")
        }
        var last = effect.map { ["Then: \(text($0))"] } ?? []
        if let nextPacket {
            let more = StoryWords.count(others, "further failure")
            last.append("\(effect == nil ? "Also" : "also"): \(more), the next at packet \(nextPacket)")
        }
        if !last.isEmpty { lines.append(last.joined(separator: "; ")) }
        return lines.map { $0.shortLine(Self.limit) }
    }

    /// The longest line, in scalars.
    private static let limit = 400

    private func text(_ evidence: StoryEvidence) -> String {
        let time = StoryWords.time(max(0, evidence.unixMicroseconds &- begin))
        let place = "packet \(evidence.packet) at \(time)"
        return "\(evidence.text) (\(place))" + (evidence.section.map { " [\($0)]" } ?? "")
    }
}

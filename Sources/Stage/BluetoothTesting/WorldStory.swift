import AppAdvice
import BluetoothService
import DequeModule
import Synchronization

/// The events of a world, for the report of a failure. They are put into words when someone asks for them.
final class WorldStory: Sendable {
    /// The number of events that are kept. Older ones are dropped, except for the names that they contain.
    static let maximumEntries = 20_000
    static let kinds: Observation.Kinds = [
        .state, .managers, .messages, .links, .notices, .misuse, .trouble, .security,
    ]

    struct Entry: Sendable {
        let time: Duration
        let device: String
        let event: WorldEvent
    }

    private struct State {
        var entries = Deque<Entry>()
        var dropped = 0
        /// The words as of the first entry that is kept.
        var words = WorldWords()
        var messages = 0
        var time = Duration.zero
        var misuse: [String] = []
        var ignored: [String] = []
        var blocked: [String] = []
        var hints = WorldHints()
        /// The problems of apps, with the time of the first one and their number.
        var problems: [(text: String, time: Duration, count: Int)] = []
    }

    private let state = Mutex(State())

    /// The time of the world, as far as the story knows.
    var time: Duration { state.withLock { $0.time } }
    /// The number of requests of apps, and of events for them.
    var messages: Int { state.withLock { $0.messages } }
    /// The misuse of the API, as lines.
    var misuse: [String] { state.withLock { $0.misuse } }
    /// The calls of the test that had no effect, as lines.
    var ignored: [String] { state.withLock { $0.ignored } }
    var dropped: Int { state.withLock { $0.dropped } }

    func move(to time: Duration) {
        state.withLock { $0.time = max($0.time, time) }
    }

    func add(_ entry: Entry) {
        state.withLock { state in
            state.time = max(state.time, entry.time)
            state.hints.add(entry)
            guard note(entry, &state) else { return }
            state.entries.append(entry)
            guard state.entries.count > Self.maximumEntries, let oldest = state.entries.popFirst() else { return }
            // For the names that later lines use.
            _ = Self.line(oldest, &state.words)
            state.dropped += 1
        }
    }

    var hints: [String] {
        let (hints, problems, blocked, time) = state.withLock { ($0.hints, $0.problems, $0.blocked, $0.time) }
        let repeated = problems.map { problem in
            let start = WorldTime.text(problem.time)
            return "\(problem.text) (\(problem.count > 1 ? "\(problem.count) times, from \(start) on" : start))"
        }
        return [String]((blocked + repeated + hints.lines(at: time)).prefix(WorldHints.maximum))
    }

    /// The queues of apps with a callback that does not return, in words.
    var blocked: [String] { state.withLock { $0.blocked } }

    /// Adds a callback that does not return.
    ///
    /// - Parameter queue: The label of its queue.
    func noteBlocked(_ queue: String) {
        let text =
            "the last callback on the queue \"\(queue)\" does not return, so the app receives nothing more there: it "
            + "waits for something, perhaps for a callback that would run on the same queue"
        add(Entry(time: time, device: "", event: .changed(text)))
        state.withLock { state in
            if state.blocked.count < TestWorld.maximumLines { state.blocked.append(text) }
        }
    }

    func noteOutsider() {
        let text =
            "a manager was created, or its class was asked, outside of all apps of this world, which do not affect it: "
            + "create managers in the closure of launch or install"
        state.withLock { state in _ = Self.note(problem: text, at: state.time, &state) }
    }

    /// Returns whether the entry belongs into the story, which has each problem once.
    private func note(_ entry: Entry, _ state: inout State) -> Bool {
        switch entry.event {
        case .observed(let observation):
            switch observation.content {
            case .requested, .delivered: state.messages += 1
            case .misused(let text, isToldToApp: _) where state.misuse.count < TestWorld.maximumLines:
                let app = observation.subject.app?.name ?? "an app"
                state.misuse.append("\(WorldTime.text(entry.time)) \(entry.device): \(app): \(text)")
            case .trouble(let text, _): return Self.note(problem: "\(entry.device): \(text)", at: entry.time, &state)
            default: break
            }
        case .ignored(let text) where state.ignored.count < TestWorld.maximumLines:
            state.ignored.append("\(WorldTime.text(entry.time)) \(entry.device): \(text)")
        case .ignored, .changed: break
        }
        return true
    }

    /// Counts a problem, and returns whether it is a new one.
    @discardableResult
    private static func note(problem text: String, at time: Duration, _ state: inout State) -> Bool {
        if let index = state.problems.firstIndex(where: { $0.text == text }) {
            state.problems[index].count += 1
            return false
        }
        if state.problems.count < TestWorld.maximumLines { state.problems.append((text, time, 1)) }
        return true
    }

    /// Returns the story as lines: who did what, and when.
    func lines() -> [String] {
        var (entries, words) = state.withLock { ($0.entries, $0.words) }
        defer { entries.removeAll() }
        return entries.map { Self.line($0, &words) }
    }

    private static func line(_ entry: Entry, _ words: inout WorldWords) -> String {
        switch entry.event {
        case .changed(let text): WorldWords.line(text, of: entry.device, at: entry.time)
        case .ignored(let text): WorldWords.line(ignored: text, of: entry.device, at: entry.time)
        case .observed(let observation): words.line(observation, of: entry.device, at: entry.time)
        }
    }
}

/// Text for times of a world.
enum WorldTime {
    /// Returns a point in time, such as `01:05.000`.
    static func text(_ time: Duration) -> String { WorldWords.time(time) }

    /// Returns a length of time, such as `30 s` or `0.25 s`.
    static func words(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }
}

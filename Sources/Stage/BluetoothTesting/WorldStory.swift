import AppAdvice
import BluetoothService
import DequeModule
import Synchronization

/// The events of a world, for the report of a failure. They are put into words on request.
final class WorldStory: Sendable {
    /// The number of events that are kept. Older ones are dropped, except for the names that they contain.
    static let maximumEntries = 20_000
    static let kinds = StoryEvent.kinds.union(.practices)

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
        var misuse: [StoryEvent] = []
        var ignored: [StoryEvent] = []
        var blocked: [String] = []
        var hints = WorldHints()
    }

    private let state = Mutex(State())

    /// The time of the world, as far as the story knows.
    var time: Duration { state.withLock { $0.time } }
    /// The number of requests of apps, and of events for them.
    var messages: Int { state.withLock { $0.messages } }
    /// The misuse of the API.
    var misuse: [StoryEvent] { state.withLock { $0.misuse } }
    /// The calls of the test that had no effect.
    var ignored: [StoryEvent] { state.withLock { $0.ignored } }
    /// The number of events so far.
    var count: Int { state.withLock { $0.dropped + $0.entries.count } }
    var dropped: Int { state.withLock { $0.dropped } }

    func move(to time: Duration) {
        state.withLock { $0.time = max($0.time, time) }
    }

    func add(_ entry: Entry) {
        state.withLock { state in
            state.time = max(state.time, entry.time)
            state.hints.add(entry.event, of: entry.device, at: entry.time)
            guard note(entry, &state) else { return }
            state.entries.append(entry)
            guard state.entries.count > Self.maximumEntries, let oldest = state.entries.popFirst() else { return }
            // For the names that later lines use.
            _ = state.words.event(oldest.event, of: oldest.device, at: oldest.time)
            state.dropped += 1
        }
    }

    /// What has probably caused a failure, the most probable cause first.
    var hints: [String] {
        var (entries, words, hints, time) = state.withLock { ($0.entries, $0.words, $0.hints, $0.time) }
        defer { entries.removeAll() }
        // The words then have the names of all that the hints are about.
        for entry in entries { _ = words.event(entry.event, of: entry.device, at: entry.time) }
        return hints.hints(at: time, words).map(\.text)
    }

    /// The queues of apps with a callback that does not return, in words.
    var blocked: [String] { state.withLock { $0.blocked } }

    /// Adds a callback that does not return.
    ///
    /// - Parameter queue: The label of its queue.
    func noteBlocked(_ queue: String) {
        let text = state.withLock { $0.hints.noteBlocked(queue, at: $0.time) }
        add(Entry(time: time, device: "", event: .changed(text)))
        state.withLock { state in
            if state.blocked.count < TestWorld.maximumLines { state.blocked.append(text) }
        }
    }

    func noteOutsider() {
        let text =
            "a manager was created, or its class was asked, outside of all apps of this world, which do not affect it: "
            + "create managers in the closure of launch or install"
        state.withLock { state in _ = state.hints.note(.problem, text, at: state.time) }
    }

    /// Returns whether the entry belongs into the story, which has each problem once.
    private func note(_ entry: Entry, _ state: inout State) -> Bool {
        switch entry.event {
        case .observed(let observation):
            switch observation.content {
            case .requested, .delivered: state.messages += 1
            case .misused(let text, isToldToApp: _):
                let text = "\(entry.device): \(observation.subject.app?.name ?? "an app"): \(text)"
                state.hints.note(.misuse, "API MISUSE: \(text)", at: entry.time)
                guard state.misuse.count < TestWorld.maximumLines else { break }
                state.misuse.append(StoryEvent(text, at: entry.time))
            case .trouble(let text, _):
                return state.hints.note(.problem, "\(entry.device): \(text)", at: entry.time)
            case .practiced: return false
            default: break
            }
        case .ignored(let text) where state.ignored.count < TestWorld.maximumLines:
            state.ignored.append(StoryEvent("\(entry.device): \(text)", at: entry.time))
        case .ignored, .changed: break
        }
        return true
    }

    /// Returns the events from a number on, put into words.
    func events(from number: Int = 0) -> [StoryEvent] {
        var (entries, words, dropped) = state.withLock { ($0.entries, $0.words, $0.dropped) }
        defer { entries.removeAll() }
        // Earlier events name what later ones are about.
        let told = entries.map { words.event($0.event, of: $0.device, at: $0.time) }
        return [StoryEvent](told.dropFirst(max(0, number - dropped)))
    }

    /// Returns the whole story as lines, one for each event that is kept.
    func lines() -> [String] { events().map(WorldTime.line) }
}

/// Text for times of a world.
enum WorldTime {
    /// Returns a point in time, such as `01:05.000`.
    static func text(_ time: Duration) -> String { WorldWords.time(time) }

    /// Returns an event as a line.
    static func line(_ event: StoryEvent) -> String { "\(text(event.time)) \(event.text)" }

    /// Returns a length of time, such as `30 s` or `0.25 s`.
    static func words(_ duration: Duration) -> String { WorldWords.duration(duration) }
}

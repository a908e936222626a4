import AppAdvice
import BluetoothService
import BluetoothSimulation
import ServiceMessages
import Synchronization

/// The story of a world in words, of which the last lines are kept. The last lines change while their events repeat.
final class StoryLog: Sendable {
    static let maximumLines = 2_000
    /// The time for which an event may repeat in one line, so that the end of the story stays close to the present.
    static let longestSeries = Duration.seconds(10)

    /// A line of the story.
    struct Line: Hashable, Sendable {
        let text: String
        /// The time since the beginning of the world, in microseconds.
        let time: Int64
        /// The number of the event in the phone's system, of the first one in a series; 0 for a line about something
        /// else.
        let event: UInt64

        init(_ line: Story.Line) {
            text = line.text(WorldWords.time)
            time = Int64(line.first.time / .microseconds(1))
            event = line.first.device == LiveWorld.phoneName ? line.first.number : 0
        }
    }

    private struct State {
        var story = Story(longestSeries: StoryLog.longestSeries, maximumLines: StoryLog.maximumLines)
        var words = WorldWords()
        /// The number of events in the lines.
        var events = 0
        /// The number of the first line that has changed since the lines were last taken.
        var changed = 0
    }

    private let state = Mutex(State())

    /// The number of lines so far.
    var count: Int { state.withLock { $0.story.count } }
    /// The number of events so far, as far as the story tells them.
    var events: Int { state.withLock { $0.events } }

    /// The words at the end of the story.
    var words: WorldWords { state.withLock { $0.words } }

    /// Adds an event of a device. The name is empty for the radio channel.
    ///
    /// - Returns: The event in words; nil for a sign that matters to advice alone.
    @discardableResult
    func add(_ event: WorldEvent, of device: String, at time: Duration) -> StoryEvent? {
        if case .observed(let observation) = event, case .practiced = observation.content { return nil }
        return state.withLock { state in
            let told = state.words.event(event, of: device, at: time)
            switch state.story.add(told) {
            case .left: return told
            case .began: state.changed = min(state.changed, state.story.count - 1)
            case .repeated(let number): state.changed = min(state.changed, number)
            }
            state.events += 1
            return told
        }
    }

    /// Returns the last lines from a number on, and the number of the first of them.
    func lines(from number: Int) -> (first: Int, lines: [Line]) {
        state.withLock { Self.lines(from: number, $0.story) }
    }

    /// Returns the lines that are new or have changed since this was last called, and the number of the first of them.
    func takeChanges() -> (first: Int, lines: [Line]) {
        state.withLock { state in
            defer { state.changed = state.story.count }
            return Self.lines(from: state.changed, state.story)
        }
    }

    private static func lines(from number: Int, _ story: Story) -> (first: Int, lines: [Line]) {
        let first = max(min(number, story.count), story.firstLine, story.count - maximumLines)
        return (first, story.lines[(first - story.firstLine)...].map(Line.init))
    }
}

import AppAdvice
import BluetoothService
import BluetoothSimulation
import ServiceMessages
import Synchronization

/// The story of a world in words, of which the last lines are kept.
final class StoryLog: Sendable {
    static let maximumLines = 2_000
    /// The kinds of events in systems that the story consists of, as in reports of failed tests.
    static let kinds: Observation.Kinds = [
        .state, .managers, .messages, .links, .notices, .misuse, .trouble, .security,
    ]

    /// A line of the story.
    struct Line: Hashable, Sendable {
        let text: String
        /// The time since the beginning of the world, in microseconds.
        let time: Int64
        /// The number of the event in the phone's system; 0 for a line about something else.
        let event: UInt64
    }

    private struct State {
        var lines: [Line] = []
        var first = 0
        var words = WorldWords()

        mutating func add(_ text: String, at time: Duration, event: UInt64 = 0) {
            lines.append(Line(text: text, time: Int64(time / .microseconds(1)), event: event))
            guard lines.count >= 2 * StoryLog.maximumLines else { return }
            lines.removeFirst(StoryLog.maximumLines)
            first += StoryLog.maximumLines
        }
    }

    private let state = Mutex(State())

    /// The number of lines so far.
    var count: Int { state.withLock { $0.first + $0.lines.count } }

    /// Adds an event of a device, unless it says nothing to the reader. The name is empty for the radio channel.
    func add(_ event: WorldEvent, of device: String, at time: Duration) {
        guard !Self.isNoise(event) else { return }
        state.withLock { state in
            switch event {
            case .changed(let text): state.add(WorldWords.line(text, of: device, at: time), at: time)
            case .ignored(let text): state.add(WorldWords.line(ignored: text, of: device, at: time), at: time)
            case .observed(let observation):
                let text = state.words.line(observation, of: device, at: time)
                state.add(text, at: time, event: device == LiveWorld.phoneName ? observation.number : 0)
            }
        }
    }

    /// Whether an event is only flow control: it follows each value that an app sends.
    private static func isNoise(_ event: WorldEvent) -> Bool {
        guard case .observed(let observation) = event,
            case .delivered(.peripheral(.updateCreditsReturned)) = observation.content
        else { return false }
        return true
    }

    /// Returns the last lines from a number on, and the number of the first of them.
    func lines(from number: Int) -> (first: Int, lines: [Line]) {
        state.withLock { state in
            let count = state.first + state.lines.count
            let first = max(min(number, count), state.first, count - Self.maximumLines)
            return (first, Array(state.lines[(first - state.first)...]))
        }
    }
}

import BluetoothService
import ServiceEvents
import ServiceMessages
import Synchronization

/// A time in the life of an app, a link or a scan, or an alert, for the time line of a world.
struct WorldLife: Encodable, Hashable, Sendable {
    enum Row: String, Encodable, Sendable {
        case apps, links, scans, alerts
    }

    let row: Row
    /// The beginning and the end, in milliseconds of the world; an alert has both at once, and what goes on has no end.
    let start: Int64
    fileprivate(set) var end: Int64?
    /// The phase of the app, or what happened, in words.
    let text: String
}

/// The lives in a world since its beginning. Events come in on the loop; the lives may be read from any thread.
final class WorldLives: Sendable {
    /// The number of lives that are kept, the last ones.
    static let maximum = 500

    fileprivate struct State {
        var lives: [WorldLife] = []
        /// The number of changes so far.
        var changes = 0
    }

    private let state = Mutex(State())

    /// The lives, in the order of their beginnings.
    var all: [WorldLife] { state.withLock { $0.lives } }
    var changes: Int { state.withLock { $0.changes } }

    /// Adds an event of the phone.
    ///
    /// - Parameter text: The event in words.
    func add(_ observation: Observation, _ text: String, at time: Duration) {
        let now = Int64(time / .milliseconds(1))
        state.withLock { state in
            switch observation.content {
            case .appMoved(let phase):
                state.end(.apps, at: now)
                if case .notRunning = phase {
                    state.end(.scans, at: now)
                } else {
                    state.begin(.apps, phase.name, at: now)
                }
            case .appLaunched:
                state.end(.apps, at: now)
                state.begin(.apps, AppPhase.background.name, at: now)
            case .linkMade: state.begin(.links, text, at: now)
            case .linkEnded: state.end(.links, at: now)
            case .requested(.central(.startScan)):
                state.end(.scans, at: now)
                state.begin(.scans, text, at: now)
            case .requested(.central(.stopScan)): state.end(.scans, at: now)
            case .noticed, .misused, .trouble: state.begin(.alerts, text, at: now, end: now)
            default: return
            }
            state.changes += 1
        }
    }

    /// Adds the opening of the app by its user, which is no event of the phone.
    func open(at time: Duration) {
        state.withLock { state in
            state.begin(.apps, AppPhase.foreground.name, at: Int64(time / .milliseconds(1)))
            state.changes += 1
        }
    }
}

extension WorldLives.State {
    fileprivate mutating func begin(_ row: WorldLife.Row, _ text: String, at now: Int64, end: Int64? = nil) {
        if lives.count >= WorldLives.maximum { lives.removeFirst() }
        lives.append(WorldLife(row: row, start: now, end: end, text: text))
    }

    /// Ends the last life of a row that goes on.
    fileprivate mutating func end(_ row: WorldLife.Row, at now: Int64) {
        guard let index = lives.lastIndex(where: { $0.row == row && $0.end == nil }) else { return }
        lives[index].end = now
    }
}

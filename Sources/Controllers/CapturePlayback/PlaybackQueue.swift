import DequeModule
import HCI

/// The pending actions of a playback, in the order of time and of entry.
struct PlaybackQueue: Sendable {
    enum Action: Sendable {
        /// Sends a packet to the host.
        case send(HCIPacket)
        /// Plays a step of the controller.
        case play(Int)
        /// Plays a step of the controller again, for a command or request that the host repeats.
        case repeated(Int)
        /// Plays a step although its predecessor has not come, if nothing has happened on its lane since another step.
        case stopWaiting(Int, since: Int)
        /// Plays the next step of an activity that goes on, although the host has not started it as often as in the
        /// capture.
        case goOn(CommandFamily, Int)
        /// Ends a connection that the capture does not end here.
        case endLink(Int)
    }

    private struct Entry: Sendable {
        let time: Int64
        let action: Action
    }

    private var entries = Deque<Entry>()

    /// When the next action is due, in nanoseconds.
    var nextTime: Int64? { entries.first?.time }

    mutating func add(_ action: Action, at time: Int64) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        entries.insert(Entry(time: time, action: action), at: low)
    }

    /// Removes and returns the next action that is due.
    mutating func takeDue(at now: Int64) -> Action? {
        guard let first = entries.first, first.time <= now else { return nil }
        entries.removeFirst()
        return first.action
    }
}

import BluetoothTypes
import EventLoops
import HCIHost

/// The last troubles of a system, for its status. What repeats is counted. When there are too many, the oldest of the least weight goes: a flood of
/// warnings pushes out no error (AB-G05).
struct TroubleList {
    /// Troubles that are kept.
    static let maximumEntries = 32
    /// Scalars of a text.
    static let maximumText = 500
    /// What may be a trouble.
    static let kinds: Observation.Kinds = [.state, .managers, .notices, .trouble]

    struct Entry: Equatable {
        let text: String
        let weight: HappeningWeight
        /// When it came last.
        var time: Instant
        var count: Int
    }

    /// The one that came last at the end.
    private(set) var entries: [Entry] = []

    /// Takes an observation; one that tells of no trouble is passed over.
    mutating func take(_ observation: Observation) {
        guard let (text, weight) = observation.trouble else { return }
        add(text.oneLine(Self.maximumText), weight, at: observation.time)
    }

    private mutating func add(_ text: String, _ weight: HappeningWeight, at time: Instant) {
        let known = entries.firstIndex { $0.text == text && $0.weight == weight }
        var entry = known.map { entries.remove(at: $0) } ?? Entry(text: text, weight: weight, time: time, count: 0)
        (entry.time, entry.count) = (time, entry.count + 1)
        entries.append(entry)
        guard entries.count > Self.maximumEntries else { return }
        entries.remove(at: entries.firstIndex { $0.weight != .error } ?? 0)
    }
}

extension Observation {
    /// What went wrong, and how much it matters; nil where nothing did.
    fileprivate var trouble: (String, HappeningWeight)? {
        switch happening {
        case .controllerFailed(let error): ("Bluetooth is unsupported: \(error)", .error)
        case .eventsLost(let count): ("\(subject.app?.label ?? "an app") misses \(count) events", .warning)
        case .noticed(let notice): notice.weight.isTrouble ? ("\(notice)", notice.weight) : nil
        case .trouble(let text, let weight): weight.isTrouble ? (text, weight) : nil
        case .stateChanged, .recovery, .managerOpened, .managerClosed, .appMoved, .appLaunched, .requested, .asked,
            .told, .linkMade, .linkEnded, .secured, .misused, .below:
            nil
        }
    }
}

extension HappeningWeight {
    /// Whether it is worth a place among the troubles.
    fileprivate var isTrouble: Bool {
        switch self {
        case .detail, .information: false
        case .notice, .warning, .error: true
        }
    }
}

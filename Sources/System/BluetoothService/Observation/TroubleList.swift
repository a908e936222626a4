import BluetoothTypes
import EventLoops
import HCIHost
import ServiceMessages

/// The most recent troubles of a system, for its status. Repetitions are counted. When the list is full, the oldest
/// entry that is not an error goes first, so that a flood of warnings evicts no error (AB-G05).
package struct TroubleList {
    static let maximumEntries = 32
    /// The maximum length of a text, in Unicode scalars.
    static let maximumText = 500
    static let kinds: Observation.Kinds = [.state, .managers, .notices, .trouble]

    package struct Entry: Equatable {
        package let text: String
        package let weight: EventWeight
        /// Whether the trouble is over as soon as a controller works.
        let endsWithPower: Bool
        package internal(set) var time: Instant
        package internal(set) var count: Int
    }

    /// The entries, the most recent one last.
    package private(set) var entries: [Entry] = []

    /// Adds an observation. Ignores one that is no trouble.
    ///
    /// A controller that works again ends the trouble that there was none.
    mutating func add(_ observation: Observation) {
        if case .stateChanged(.poweredOn) = observation.content { entries.removeAll { $0.endsWithPower } }
        guard let (text, weight) = observation.trouble else { return }
        let endsWithPower = if case .controllerFailed = observation.content { true } else { false }
        add(text.oneLine(Self.maximumText), weight, at: observation.time, endsWithPower: endsWithPower)
    }

    private mutating func add(_ text: String, _ weight: EventWeight, at time: Instant, endsWithPower: Bool) {
        let known = entries.firstIndex { $0.text == text && $0.weight == weight }
        var entry =
            known.map { entries.remove(at: $0) }
            ?? Entry(text: text, weight: weight, endsWithPower: endsWithPower, time: time, count: 0)
        (entry.time, entry.count) = (time, entry.count + 1)
        entries.append(entry)
        guard entries.count > Self.maximumEntries else { return }
        entries.remove(at: entries.firstIndex { $0.weight != .error } ?? 0)
    }
}

extension Observation {
    /// The trouble and its weight, or nil if the observation is none.
    fileprivate var trouble: (String, EventWeight)? {
        switch content {
        case .controllerFailed(let error): ("Bluetooth is unsupported: \(error)", .error)
        case .eventsLost(let count): ("\(subject.app?.label ?? "an app") lost \(count) events", .warning)
        case .noticed(let notice): notice.weight.isTrouble ? ("\(notice)", notice.weight) : nil
        case .trouble(let text, let weight): weight.isTrouble ? (text, weight) : nil
        case .stateChanged, .recovery, .managerOpened, .managerClosed, .appMoved, .liveActivity, .appLaunched,
            .requested, .asked, .delivered, .linkMade, .linkEnded, .secured, .parametersUpdated, .misused, .practiced,
            .below:
            nil
        }
    }
}

extension EventWeight {
    fileprivate var isTrouble: Bool {
        switch self {
        case .detail, .information: false
        case .notice, .warning, .error: true
        }
    }
}

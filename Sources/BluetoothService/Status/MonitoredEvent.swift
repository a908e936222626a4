import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost

/// An ``Observation`` as tools show it: a line of `harald monitor --json`. The names of the fields stay as they are; what there is
/// nothing of is left out.
package struct MonitoredEvent: Codable, Hashable, Sendable {
    /// Octets of ``text`` and of each of ``details``: what is longer is cut, and ends in "...".
    package static let maximumText = 2_000
    /// Entries of ``details``.
    package static let maximumDetails = 16

    /// Counts what happens in the system; it grows.
    package var number: UInt64
    /// Seconds on the clock of the system.
    package var time: Double
    /// The number of the event that this one came of.
    package var cause: UInt64?
    /// The name of the app that it is about.
    package var app: String?
    /// The number of the user that the app runs as.
    package var owner: UInt32?
    /// The number of the manager in its app.
    package var manager: UInt32?
    /// What apps call the peer.
    package var peer: UUID?
    /// The number of the link in HCI.
    package var link: Int?
    /// Which kind of event it is: `state`, `managers`, `messages`, `links`, `notices`, `misuse`, `trouble`, `host`, `privacy`,
    /// `security`, `access`; `lost` where the tool missed some.
    package var kind: String
    /// What happened.
    package var text: String
    /// What else is known of it, by name.
    package var details: [String: String]?

    /// What was observed. No key is in it, nor a passkey.
    ///
    /// - Parameter showsContents: Whether what apps say and hear is shown, and not only that they do.
    package init(_ observation: Observation, showsContents: Bool) {
        let happening = observation.happening
        let isShown = showsContents || happening.kind.isDisjoint(with: [.messages, .misuse])
        number = observation.number
        time = Double(observation.time.nanoseconds) / 1_000_000_000
        cause = observation.cause
        app = observation.subject.app?.name
        owner = observation.subject.app?.owner
        manager = observation.subject.manager?.rawValue
        peer = observation.subject.peer
        link = observation.subject.link.map { Int($0.rawValue) }
        kind = happening.kind.name
        text = (isShown ? happening.text : happening.summary).cut
        let known = isShown ? happening.details : [:]
        details = known.isEmpty ? nil : known.bounded
    }

    /// Says that a tool has missed something.
    package init(lost count: Int, after last: UInt64, at time: Double) {
        (number, self.time, kind) = (last, time, "lost")
        text = "\(count) events are lost: they were not taken in time"
        details = ["lost": "\(count)"]
    }

    /// For a person, in one line.
    package var line: String {
        let seconds = String(format: "%.6f", time)
        let whose = [app?.visible, manager.map { "\($0)" }].compactMap(\.self).joined(separator: "/")
        let whom = [peer.map { "peer \($0)" }, link.map { "link \($0)" }].compactMap(\.self)
        return ([seconds, kind, whose] + whom + [text.visible]).filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Observation.Kinds {
    /// The kinds with their names.
    package static let named: [(kind: Observation.Kinds, name: String)] = [
        (.state, "state"), (.managers, "managers"), (.messages, "messages"), (.links, "links"), (.notices, "notices"),
        (.misuse, "misuse"), (.trouble, "trouble"), (.host, "host"), (.privacy, "privacy"), (.security, "security"),
        (.access, "access"),
    ]

    /// The name of a kind.
    package var name: String { Self.named.first { $0.kind == self }?.name ?? "other" }
}

extension Observation.Happening {
    /// In words, without what apps say and hear.
    fileprivate var summary: String {
        switch self {
        case .requested: "an app asks for something"
        case .asked: "an app wants to know something"
        case .told: "an app is told something"
        case .misused: "an app made a mistake"
        case .stateChanged, .controllerFailed, .recovery, .managerOpened, .managerClosed, .appMoved, .appLaunched,
            .eventsLost,
            .linkMade, .linkEnded, .secured, .noticed, .trouble, .below:
            text
        }
    }

    /// In words.
    fileprivate var text: String {
        switch self {
        case .stateChanged(let state): "Bluetooth is \(state.name)"
        case .controllerFailed(let error): "Bluetooth is unsupported: \(error)"
        case .recovery(let report): "\(report)"
        case .managerOpened(let role): "a \(role.name) manager is made"
        case .managerClosed: "the manager is gone"
        case .appMoved(let phase): "the app is \(phase.words)"
        case .appLaunched: "the app is launched to hear of something"
        case .eventsLost(let count): "the app was away for too long and misses \(count) events"
        case .requested(let request): "asks \(request.fieldDescription)"
        case .asked(let query): "wants to know \(query.fieldDescription)"
        case .told(let event): "is told \(event.fieldDescription)"
        case .linkMade: "there is a link"
        case .linkEnded(let end): "the link is over: \(end.reason)"
        case .secured(let security): security.words
        case .noticed(let notice): notice.description
        case .misused(let text, isToldToApp: _): text
        case .trouble(let text, _): text
        case .below(let happening): happening.description
        }
    }

    /// What else is known, by name.
    fileprivate var details: [String: String] {
        switch self {
        case .stateChanged(let state): ["state": state.name]
        case .recovery(let report): report.details
        case .managerOpened(let role): ["role": role.name]
        case .appMoved(let phase): ["phase": phase.name]
        case .appLaunched(let identifiers):
            [
                "centrals": identifiers.centrals.joined(separator: ","),
                "peripherals": identifiers.peripherals.joined(separator: ","),
            ]
        case .eventsLost(let count): ["lost": "\(count)"]
        case .linkEnded(let end): ["reason": "\(end.reason.rawValue)"]
        case .secured(let security): ["encryption": security.level]
        case .misused(_, let isToldToApp): ["isToldToApp": "\(isToldToApp)"]
        case .trouble(_, let weight): ["weight": "\(weight)"]
        case .below(let happening):
            happening.details.merging(["weight": "\(happening.weight)"]) { $1 }
        case .controllerFailed, .managerClosed, .requested, .asked, .told, .linkMade, .noticed: [:]
        }
    }
}

extension RecoveryReport {
    fileprivate var details: [String: String] {
        switch self {
        case .took(let step, let cause):
            ["step": "\(step.rawValue)", "cause": "\(cause)", "layer": cause.layer.rawValue]
        case .skipped, .recovered, .left: ["step": "\(step.rawValue)"]
        }
    }
}

extension AppPhase {
    /// For a person.
    package var words: String {
        switch self {
        case .foreground: "in the foreground"
        case .background: "in the background"
        case .suspended: "suspended"
        case .notRunning(.crashed): "not running: it has crashed"
        case .notRunning(.removedFromMemory): "not running: it was removed from memory"
        case .notRunning(.forceQuit): "not running: the person has ended it"
        case .notRunning(.deviceRestarted): "not running: the device was switched off"
        }
    }
}

extension LinkSecurity {
    fileprivate var level: String { isAuthenticated ? "authenticated" : isEncrypted ? "encrypted" : "none" }

    fileprivate var words: String {
        switch level {
        case "authenticated": "the link is encrypted, and nobody is in the middle"
        case "encrypted": "the link is encrypted"
        default: "the link is not encrypted"
        }
    }
}

extension String {
    fileprivate var cut: String {
        let beginning = prefix(octets: MonitoredEvent.maximumText)
        return beginning.utf8.count < utf8.count ? beginning + "..." : self
    }
}

extension [String: String] {
    fileprivate var bounded: [String: String] {
        let kept = sorted { $0.key < $1.key }.prefix(MonitoredEvent.maximumDetails)
        return [String: String](kept.map { ($0.key.cut, $0.value.cut) }) { $1 }
    }
}

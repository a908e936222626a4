import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import ServiceMessages

/// An ``Observation`` as output by tools: a line of `harald monitor --json`. The names of the fields are stable. Fields
/// without a value are omitted.
package struct MonitoredEvent: Codable, Hashable, Sendable {
    /// The maximum length of ``text`` and of each of ``details``, in octets. Longer ones are cut and end in "...".
    package static let maximumText = 2_000
    /// The maximum number of ``details``.
    package static let maximumDetails = 16

    /// The sequence number of the event in the system. It only grows.
    package var number: UInt64
    /// The time on the system's clock, in seconds.
    package var time: Double
    /// The time of day, in seconds since the beginning of 1970, UTC; nil if the system has no calendar.
    package var date: Double?
    /// The number of the event that caused this one.
    package var cause: UInt64?
    package var app: String?
    /// The user ID of the app.
    package var owner: UInt32?
    /// The number of the manager within its app.
    package var manager: UInt32?
    /// The identifier that apps know the peer by.
    package var peer: UUID?
    /// The HCI connection handle of the link.
    package var link: Int?
    /// The kind of the event: `state`, `managers`, `messages`, `links`, `notices`, `misuse`, `trouble`, `host`,
    /// `privacy`, `security` or `access`, or `lost` if the tool missed events.
    package var kind: String
    package var text: String
    /// The fields of the request, query or event, for the kind `messages` and a tool that may see them.
    package var message: MonitoredMessage?
    /// Further properties of the event, by name.
    package var details: [String: String]?

    /// Creates the output for an observation. It contains neither keys nor passkeys.
    ///
    /// - Parameters:
    ///   - date: The time of day in seconds since 1970; nil without a calendar.
    ///   - showsContents: Whether to include the contents of apps' messages, rather than only the fact that there were
    ///     messages.
    ///   - needsText: Whether to include the text of a message whose fields are included.
    package init(_ observation: Observation, date: Double? = nil, showsContents: Bool, needsText: Bool = true) {
        let content = observation.content
        let isShown = showsContents || content.kind.isDisjoint(with: [.messages, .misuse])
        number = observation.number
        time = Double(observation.time.nanoseconds) / 1_000_000_000
        self.date = date
        cause = observation.cause
        app = observation.subject.app?.name
        owner = observation.subject.app?.owner
        manager = observation.subject.manager?.rawValue
        peer = observation.subject.peer
        link = observation.subject.link.map { Int($0.rawValue) }
        kind = content.kind.name
        message = isShown ? content.message : nil
        text = message != nil && !needsText ? "" : (isShown ? content.text : content.summary).cut
        let known = isShown ? content.details : [:]
        details = known.isEmpty ? nil : known.bounded
    }

    package var leftOut: Int? { details?[Self.leftOut].flatMap { Int($0) } }

    private static let leftOut = "leftOut"

    package mutating func note(leftOut count: Int) {
        details = (details ?? [:]).merging([Self.leftOut: "\(count)"]) { $1 }
    }

    package init(lost count: Int, after last: UInt64, at time: Double, date: Double? = nil) {
        (number, self.time, self.date, kind) = (last, time, date, "lost")
        text = "\(count) events were lost because they were not read in time"
        details = ["lost": "\(count)"]
    }

    package var line: String {
        let seconds = String(format: "%.6f", time)
        let whose = [app?.visible, manager.map { "\($0)" }].compactMap(\.self).joined(separator: "/")
        let whom = [peer.map { "peer \($0)" }, link.map { "link \($0)" }].compactMap(\.self)
        return ([seconds, kind, whose] + whom + [text.visible]).filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Observation.Kinds {
    package static let named: [(kind: Observation.Kinds, name: String)] = [
        (.state, "state"), (.managers, "managers"), (.messages, "messages"), (.links, "links"), (.notices, "notices"),
        (.misuse, "misuse"), (.trouble, "trouble"), (.host, "host"), (.privacy, "privacy"), (.security, "security"),
        (.access, "access"),
    ]

    package var name: String { Self.named.first { $0.kind == self }?.name ?? "other" }
}

extension Observation.Content {
    /// A description without the contents of apps' messages.
    fileprivate var summary: String {
        switch self {
        case .requested: "an app sent a request"
        case .asked: "an app sent a query"
        case .delivered: "an event was sent to an app"
        case .misused: "an app misused the API"
        case .stateChanged, .controllerFailed, .recovery, .managerOpened, .managerClosed, .appMoved, .liveActivity,
            .appLaunched, .eventsLost, .linkMade, .linkEnded, .secured, .parametersUpdated, .noticed, .trouble,
            .practiced, .below:
            text
        }
    }

    fileprivate var text: String {
        switch self {
        case .stateChanged(let state): "Bluetooth is \(state.word)"
        case .controllerFailed(let error): "Bluetooth is unsupported: \(error)"
        case .recovery(let report): "\(report)"
        case .managerOpened(let role): "a \(role.name) manager was created"
        case .managerClosed: "the manager was closed"
        case .appMoved(let phase): "the app is \(phase.words)"
        case .liveActivity(isShown: true, isPrivileged: true):
            "the app started a Live Activity, and keeps the Bluetooth privileges of the foreground while it lasts"
        case .liveActivity(isShown: true, isPrivileged: false):
            "the app started a Live Activity, which does not concern Bluetooth before iOS 26"
        case .liveActivity: "the Live Activity of the app ended"
        case .appLaunched: "the app was launched to receive an event"
        case .eventsLost(let count): "\(count) events for the app were dropped because too many were waiting"
        case .requested(let request): "request, \(request.fieldDescription)"
        case .asked(let query): "query, \(query.fieldDescription)"
        case .delivered(let event): "event, \(event.fieldDescription)"
        case .linkMade: "the link was established"
        case .linkEnded(let reason): "the link ended: \(reason)"
        case .secured(let security): security.words
        case .parametersUpdated: "the requested connection parameters are in effect"
        case .noticed(let notice): notice.description
        case .misused(let text, isToldToApp: _): text
        case .trouble(let text, _): text
        case .practiced(let practice): "a sign for advice: \(practice)"
        case .below(let event): event.description
        }
    }

    fileprivate var message: MonitoredMessage? {
        switch self {
        case .requested(let request): MonitoredMessage(request)
        case .asked(let query): MonitoredMessage(query)
        case .delivered(let event): MonitoredMessage(event)
        default: nil
        }
    }

    fileprivate var details: [String: String] {
        switch self {
        case .stateChanged(let state): ["state": state.name]
        case .recovery(let report): report.details
        case .managerOpened(let role): ["role": role.name]
        case .appMoved(let phase): ["phase": phase.name]
        case .liveActivity(let isShown, isPrivileged: _): ["liveActivity": "\(isShown)"]
        case .appLaunched(let identifiers):
            [
                "centrals": identifiers.centrals.joined(separator: ","),
                "peripherals": identifiers.peripherals.joined(separator: ","),
            ]
        case .eventsLost(let count): ["lost": "\(count)"]
        case .linkEnded(let reason): ["reason": "\(reason.rawValue)"]
        case .secured(let security): ["encryption": security.level]
        case .misused(_, let isToldToApp): ["isToldToApp": "\(isToldToApp)"]
        case .trouble(_, let weight): ["weight": "\(weight)"]
        case .below(let event):
            event.details.merging(["weight": "\(event.weight)"]) { $1 }
        case .controllerFailed, .managerClosed, .requested, .asked, .delivered, .linkMade, .parametersUpdated, .noticed,
            .practiced:
            [:]
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

// MARK: Names

extension ManagerState {
    private static let names = ["unknown", "resetting", "unsupported", "unauthorized", "poweredOff", "poweredOn"]

    /// The name in the output of tools.
    package var name: String { Self.names[rawValue] }

    /// The state in the words of lines for the user.
    package var word: String {
        switch self {
        case .poweredOff: "off"
        case .poweredOn: "on"
        case .unknown, .resetting, .unsupported, .unauthorized: name
        }
    }

    package init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: index)
    }
}

extension AppPermission {
    /// The name in the output of tools.
    package var name: String { "\(self)" }
}

extension ManagerRole {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .central: "central"
        case .peripheral: "peripheral"
        case .accessorySetup: "accessorySetup"
        case .activities: "activities"
        }
    }
}

extension AppPhase {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        case .suspended: "suspended"
        case .notRunning: "notRunning"
        }
    }

    package var words: String {
        switch self {
        case .foreground: "in the foreground"
        case .background: "in the background"
        case .suspended: "suspended"
        case .notRunning(.crashed): "not running: it ended or crashed"
        case .notRunning(.removedFromMemory): "not running: it was removed from memory"
        case .notRunning(.forceQuit): "not running: the user force-quit it"
        case .notRunning(.deviceRestarted): "not running: the device was switched off"
        }
    }
}

extension LinkSecurity {
    fileprivate var level: String { isAuthenticated ? "authenticated" : isEncrypted ? "encrypted" : "none" }

    fileprivate var words: String {
        switch level {
        case "authenticated": "the link is encrypted with an authenticated key"
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

import ServiceEvents

/// An event as a story tells it: its text, and what decides how the story shortens it.
package struct StoryEvent: Hashable, Sendable {
    /// The importance of an event for a reader who looks for the cause of a failure.
    package enum Weight: Int, Comparable, Sendable {
        /// Bookkeeping between an app's objects and the service, such as returned credits. Shown on request only.
        case inner
        case routine
        /// What the reader must not miss: launches, ends, restoration, errors, prompts and changes of state.
        case notable

        package static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }
    }

    /// The kinds of events in a system that stories consist of.
    package static let kinds: Observation.Kinds = [
        .state, .managers, .messages, .links, .notices, .misuse, .trouble, .security,
    ]

    /// The time since the beginning of the story.
    package var time: Duration
    /// The text, without the time.
    package var text: String
    /// Identifies events that only differ in their values, such as the notifications of one characteristic.
    package var kind: String
    /// The device that the event belongs to; empty for none.
    package var device: String
    /// The app that the event belongs to; nil for the device as a whole.
    package var app: String?
    package var weight: Weight
    /// The number of the event in its system; 0 for none.
    package var number: UInt64

    /// Creates an event.
    ///
    /// - Parameter kind: By default the text without its numbers, so that `moves to (1, 0)` and `moves to (2, 0)` are of
    ///   one kind.
    package init(
        _ text: String,
        at time: Duration,
        kind: String? = nil,
        device: String = "",
        app: String? = nil,
        weight: Weight = .routine,
        number: UInt64 = 0
    ) {
        (self.time, self.text, self.device, self.app) = (time, text, device, app)
        (self.weight, self.number) = (weight, number)
        self.kind = kind ?? FoldedText(text).pattern
    }

    /// Whether this event ends series of `other`'s app: events before and after it are not folded into one line.
    func separates(_ other: StoryEvent) -> Bool {
        guard weight == .notable, kind != other.kind, device == other.device else { return false }
        return app == nil || other.app == nil || app == other.app
    }
}

extension StoryEvent {
    /// Creates an event of the service, with its text.
    package init(_ event: MonitoredEvent, _ text: String, at time: Duration, device: String = "") {
        self.init(
            text,
            at: time,
            kind: event.storyKind,
            device: device,
            app: event.app,
            weight: event.storyWeight,
            number: event.number
        )
    }
}

extension MonitoredEvent {
    /// Requests and events that keep the objects of an app and the service in step, or that only tools ask for.
    private static let innerMessages: Set<String> = [
        "centralChanged", "forget", "grant of a channel", "linkInformation", "maximumWriteLengthChanged",
        "names", "preferLink", "readLinkInformation", "room of a channel", "scanCounts", "system",
        "updateCreditsReturned", "watchCentrals", "watchConnections", "watchLink", "writeCreditsReturned",
    ]
    private static let notableMessages: Set<String> = [
        "cancelConnection", "centralConnected", "centralDisconnected", "connect", "connected", "connectionFailed",
        "disconnectCentral", "disconnected", "servicesModified", "stateChanged", "willRestore",
    ]

    /// The importance of the event in a story.
    var storyWeight: StoryEvent.Weight {
        guard let message else { return ["host", "privacy", "access"].contains(kind) ? .routine : .notable }
        if message.error != nil || Self.notableMessages.contains(message.name) { return .notable }
        return Self.innerMessages.contains(message.name) ? .inner : .routine
    }

    /// What the events of a series have in common; nil for events without a message, whose text tells it.
    var storyKind: String? {
        guard let message else { return nil }
        let parts: [String?] = [
            message.direction.rawValue, message.name, app, manager.map { "\($0)" },
            (message.peer ?? peer).map { "\($0)" },
            message.handle.map { "\($0)" }, message.own.map { "own \($0)" }, message.psm.map { "psm \($0)" },
            message.state,
            message.isEnabled.map { "\($0)" }, message.error,
        ]
        return parts.map { $0 ?? "" }.joined(separator: "|")
    }
}

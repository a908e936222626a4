import ServiceEvents

/// Puts the events of a simulated world into words. Remembers the names that earlier events contained.
package struct WorldWords: Sendable {
    private var words: [String: MonitorWords] = [:]

    package init() {}

    /// Returns an event for a story.
    ///
    /// - Parameter device: The name of the device; empty for the radio channel or the world.
    package mutating func event(_ event: WorldEvent, of device: String, at time: Duration) -> StoryEvent {
        switch event {
        case .observed(let observation): self.event(observation, of: device, at: time)
        case .ignored(let text):
            StoryEvent(Self.line("NO EFFECT: \(text)", of: device), at: time, device: device, weight: .notable)
        case .changed(let text):
            StoryEvent(Self.line(text, of: device), at: time, device: device, weight: .notable)
        }
    }

    private mutating func event(_ observation: Observation, of device: String, at time: Duration) -> StoryEvent {
        let monitored = MonitoredEvent(observation, showsContents: true, needsText: false)
        let text = words[device, default: MonitorWords()].text(of: monitored)
        let isMisuse = if case .misused = observation.content { true } else { false }
        return StoryEvent(
            monitored,
            Self.line(isMisuse ? "API MISUSE: \(text)" : text, of: device),
            at: time,
            device: device
        )
    }

    /// Returns a request or an event of a device's app in words, without the app.
    package func message(_ observation: Observation, of device: String) -> String {
        let monitored = MonitoredEvent(observation, showsContents: true, needsText: false)
        var words = words[device] ?? MonitorWords()
        return words.message(of: monitored) ?? words.text(of: monitored)
    }

    private static func line(_ text: String, of device: String) -> String {
        device.isEmpty ? text : "\(device): \(text)"
    }

    /// Returns a point in time of a world, such as `01:05.000`.
    package static func time(_ time: Duration) -> String {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        let (seconds, minutes) = (milliseconds / 1_000 % 60, milliseconds / 60_000)
        let hours = minutes >= 60 ? "\(minutes / 60):" : ""
        return "\(hours)\(padded(minutes % 60, 2)):\(padded(seconds, 2)).\(padded(milliseconds % 1_000, 3))"
    }

    /// Returns a length of time, such as `30 s` or `0.25 s`.
    package static func duration(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

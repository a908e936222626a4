import ServiceEvents

/// Puts the events of a simulated world into words, a line for each. Remembers the names that earlier events contained.
package struct WorldWords: Sendable {
    private var words: [String: MonitorWords] = [:]

    package init() {}

    /// Returns the line of an event in the system of a device.
    package mutating func line(_ observation: Observation, of device: String, at time: Duration) -> String {
        let event = MonitoredEvent(observation, showsContents: true)
        let text = words[device, default: MonitorWords()].text(of: event)
        guard case .misused = observation.content else { return Self.line(text, of: device, at: time) }
        return Self.line("API MISUSE: \(text)", of: device, at: time)
    }

    /// Returns the line of a call that had no effect.
    package static func line(ignored text: String, of device: String, at time: Duration) -> String {
        line("NO EFFECT: \(text)", of: device, at: time)
    }

    /// Returns the line of a change of a device; with an empty name, of the radio channel or the world.
    package static func line(_ text: String, of device: String, at time: Duration) -> String {
        device.isEmpty ? "\(Self.time(time)) \(text)" : "\(Self.time(time)) \(device): \(text)"
    }

    /// Returns a point in time of a world, such as `01:05.000`.
    package static func time(_ time: Duration) -> String {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        let (seconds, minutes) = (milliseconds / 1_000 % 60, milliseconds / 60_000)
        let hours = minutes >= 60 ? "\(minutes / 60):" : ""
        return "\(hours)\(padded(minutes % 60, 2)):\(padded(seconds, 2)).\(padded(milliseconds % 1_000, 3))"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

/// The last events of a world and its advice, for pages that open later.
struct PageHistory {
    /// The maximum number of octets of the events that are kept.
    static let maximumOctets = 512 << 10
    /// The maximum number of lines of advice that are kept, the last ones.
    static let maximumAdvice = 200
    /// The maximum number of events in a text for a page.
    private static let batch = 500

    /// The lines of advice as JSON.
    private(set) var advice: [String] = []
    private let maximum: Int
    private var events: [String] = []
    /// The number of events at the beginning that are forgotten, but not removed yet.
    private var forgotten = 0
    private var octets = 0

    init(maximumOctets: Int = Self.maximumOctets) { maximum = maximumOctets }

    /// Adds an event as JSON.
    mutating func addEvent(_ json: String) {
        events.append(json)
        octets += json.utf8.count
        while octets > maximum {
            octets -= events[forgotten].utf8.count
            events[forgotten] = ""
            forgotten += 1
        }
        guard forgotten > events.count / 2 else { return }
        events.removeFirst(forgotten)
        forgotten = 0
    }

    mutating func addAdvice(_ json: String) {
        advice.append(json)
        if advice.count > Self.maximumAdvice { advice.removeFirst() }
    }

    /// The events in order, as lists in JSON.
    var batches: [String] {
        stride(from: forgotten, to: events.count, by: Self.batch).map { start in
            "[" + events[start..<min(start + Self.batch, events.count)].joined(separator: ",") + "]"
        }
    }
}

/// Events that are handled strictly one after the other, including those raised while one is handled.
struct EventQueue<Event> {
    private var waiting: [Event] = []
    private var isHandling = false

    /// The number of events that wait.
    var count: Int { waiting.count }

    /// Appends an event. Returns whether the caller has to handle the events now, until ``next()`` returns nil.
    mutating func add(_ event: Event) -> Bool {
        waiting.append(event)
        guard !isHandling else { return false }
        isHandling = true
        return true
    }

    /// Removes and returns the next event; nil if all have been handled.
    mutating func next() -> Event? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        isHandling = false
        return nil
    }

    /// Discards the events that wait.
    mutating func removeAll() { waiting = [] }
}

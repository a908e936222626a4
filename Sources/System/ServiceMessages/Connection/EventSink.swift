import EventLoops

/// Carries the events of a manager to its app.
package protocol EventSink: AnyObject, Sendable {
    /// Whether the sink accepts events now. A sink without room is attached again when it has room. On the loop only.
    var hasRoom: Bool { get }
    /// The number of events passed to the app, of those that this sink has accepted. Nil for a sink that does not
    /// count, whose events are read as soon as it accepts them. Channel events do not count. On the loop only.
    var eventsRead: UInt64? { get }
    /// Accepts an event. Events arrive in order. On the loop only.
    func accept(_ event: Event, on loop: any EventLoop)
}

extension EventSink {
    /// A sink within the process always has room.
    package var hasRoom: Bool { true }
    /// By default a sink does not count.
    package var eventsRead: UInt64? { nil }
}

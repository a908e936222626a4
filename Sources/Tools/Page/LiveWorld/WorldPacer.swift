/// How much time of the world is due, in whole milliseconds.
///
/// A machine that cannot keep up loses time, rather than falling behind more and more.
struct WorldPacer: Sendable {
    /// The longest time of the wall clock that is made up for.
    static let maximumLag = Duration.milliseconds(200)

    var isRunning = true
    /// The seconds of the world in a second of the wall clock.
    var speed = 1.0
    private var left = 0.0

    /// Returns the milliseconds of the world that are due after a time of the wall clock.
    mutating func due(after wall: Duration) -> Int64 {
        guard isRunning else {
            left = 0
            return 0
        }
        let due = left + min(max(wall, .zero), Self.maximumLag) / .milliseconds(1) * speed
        left = due - due.rounded(.down)
        return Int64(due.rounded(.down))
    }
}

import BluetoothService
import EventLoops

/// What happens to an app, and what a person does with it (behaviours 9.1 to 9.7, 9.14).
extension SimulatedApp {
    /// Where the app is in its life.
    public var phase: AppPhase { connection.phase }

    /// The person goes on to something else: the app runs for about 30 s more, and is suspended.
    public func leave() { connection.happened(.left) }

    /// The person opens the app again. One whose process is gone has to be launched
    /// (``SimulatedDevice/launch(_:declaring:_:)``).
    public func enter() { connection.happened(.entered) }

    /// The app begins what it wants to finish in the background (`beginBackgroundTask`): it gets up to three minutes.
    public func beginBackgroundTask() { connection.happened(.asksForTime(true)) }

    /// The app has finished it (`endBackgroundTask`).
    public func endBackgroundTask() { connection.happened(.asksForTime(false)) }

    /// The process dies of a fault of its own, at once.
    public func crash() { connection.happened(.ended(.crashed)) }

    /// The system takes the app's memory.
    public func removeFromMemory() { connection.happened(.ended(.removedFromMemory)) }

    /// The person ends the app.
    public func forceQuit() {
        connection.happened(.ended(.forceQuit))
        // The process may have belonged to a system that has ended since.
        let identity = AppIdentity(name: name)
        device.parts.with { $0.system.personHasEnded(identity) }
    }
}

import BluetoothService
import EventLoops
import ServiceMessages

/// The lifecycle of an app (behaviours 9.1 to 9.7, 9.14). All methods may be called from any thread.
extension SimulatedApp {
    /// The phase of the app's lifecycle.
    public var phase: AppPhase { connection.phase }

    /// Moves the app to the background, as the person does. It runs for about 30 s more and is then suspended
    /// (behaviour 9.1).
    public func leave() { connection.happened(.left) }

    /// Brings the app to the front, as the person does. If its process has ended, launch it instead, with
    /// ``SimulatedDevice/launch(_:declaring:_:)``.
    public func enter() { connection.happened(.entered) }

    /// Begins a background task of the app, like `beginBackgroundTask` of UIKit, which gives it up to three minutes
    /// (behaviour 9.1).
    public func beginBackgroundTask() { connection.happened(.asksForTime(true)) }

    /// Ends the background task of the app, like `endBackgroundTask` of UIKit.
    public func endBackgroundTask() { connection.happened(.asksForTime(false)) }

    /// Ends the process at once, as a fault in the app does. What was preserved of the app stays (behaviour 10.15).
    public func crash() { connection.happened(.ended(.crashed)) }

    /// Ends the process, as the system does when it needs memory. What was preserved of the app stays
    /// (behaviour 10.15).
    public func removeFromMemory() { connection.happened(.ended(.removedFromMemory)) }

    /// Ends the app, as the person does. The system does not launch it again (behaviour 10.16).
    public func forceQuit() {
        connection.happened(.ended(.forceQuit))
        // The process may belong to a system from before a restart.
        let identity = AppIdentity(name: name)
        device.withSystem { $0.personHasEnded(identity) }
    }
}

import BluetoothService
import EventLoops
import ServiceMessages

/// The lifecycle of an app (behaviours 9.1 to 9.7, 9.14). All methods may be called from any thread.
///
/// The methods return whether the process was there. If it has ended, all but ``forceQuit()`` have no effect, and log
/// that.
extension SimulatedApp {
    /// The phase of the app's lifecycle.
    public var phase: AppPhase { connection.phase }

    /// Whether the app has a Live Activity (behaviour 9.17).
    public var hasLiveActivity: Bool { connection.hasActivity }

    /// Moves the app to the background, as the person does. It runs for about 30 s more and is then suspended
    /// (behaviour 9.1).
    @discardableResult
    public func leave() -> Bool { happens(.left, "leave()") }

    /// Brings the app to the front, as the person does. If its process has ended, launch it instead, with
    /// ``SimulatedDevice/launch(_:declaring:_:)``.
    @discardableResult
    public func enter() -> Bool { happens(.entered, "enter()") }

    /// Begins a background task of the app, like `beginBackgroundTask` of UIKit, which gives it up to three minutes
    /// (behaviour 9.1).
    @discardableResult
    public func beginBackgroundTask() -> Bool { happens(.asksForTime(true), "beginBackgroundTask()") }

    /// Ends the background task of the app, like `endBackgroundTask` of UIKit.
    @discardableResult
    public func endBackgroundTask() -> Bool { happens(.asksForTime(false), "endBackgroundTask()") }

    /// Starts a Live Activity, like `Activity.request` of ActivityKit, which needs the foreground (behaviour 9.18). From
    /// iOS 26 on, an app with a manager keeps the Bluetooth privileges of the foreground until the activity ends, after
    /// eight hours at the latest (behaviour 9.17).
    ///
    /// - Returns: `false` if the app is not in the foreground, or if the device has a version before iOS 16.1.
    @discardableResult
    public func startLiveActivity() -> Bool {
        device.world.loop.waitFor { [self] in
            guard connection.canStartActivity else {
                device.ignored("startLiveActivity() of \(name): the app is \(connection.phase.words)")
                return false
            }
            connection.happened(.liveActivity(true))
            return true
        }
    }

    /// Ends the Live Activity, like `end` of ActivityKit. In the background the privileges end with it
    /// (behaviour 9.17).
    @discardableResult
    public func endLiveActivity() -> Bool { happens(.liveActivity(false), "endLiveActivity()") }

    /// Moves the app to the background and suspends it at once, without the time that the system grants it otherwise
    /// (behaviour 9.1).
    @discardableResult
    public func suspend() -> Bool {
        guard happens(.left, "suspend()") else { return false }
        connection.happened(.asksForTime(false))
        connection.happened(.timeIsUp)
        return true
    }

    /// Ends the process at once, as a fault in the app does. What was preserved of the app stays (behaviour 10.15).
    @discardableResult
    public func crash() -> Bool { happens(.ended(.crashed), "crash()") }

    /// Ends the process, as the system does when it needs memory. What was preserved of the app stays
    /// (behaviour 10.15).
    @discardableResult
    public func removeFromMemory() -> Bool { happens(.ended(.removedFromMemory), "removeFromMemory()") }

    /// Ends the app, as the person does. The system does not launch it again (behaviour 10.16), even if its process had
    /// ended before.
    @discardableResult
    public func forceQuit() -> Bool {
        let (identity, connection) = (AppIdentity(name: name), connection)
        return device.withSystem {
            let hadEnded = if case .notRunning = connection.phase { true } else { false }
            connection.happened(.ended(.forceQuit))
            // The process may belong to a system from before a restart.
            $0.apps.preservation.userForceQuit(identity)
            return !hadEnded
        }
    }

    private func happens(_ event: AppLifecycle.Event, _ call: String) -> Bool {
        device.world.loop.waitFor { [self] in
            guard case .notRunning = connection.phase else {
                connection.happened(event)
                return true
            }
            device.ignored("\(call) of \(name): the app is \(connection.phase.words)")
            return false
        }
    }
}

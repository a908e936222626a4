import ServiceMessages

/// Launches apps to receive events. Used on the loop only.
package protocol AppLauncher: AnyObject {
    /// Launches an app in the background. The app is expected to create its managers at once (behaviour 10.6).
    ///
    /// A launcher that cannot start the process, or whose process ends before it has connected, calls
    /// ``BluetoothSystem/launchEnded(_:)``.
    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers)

    /// Whether there is a program to launch for an app. Without one, the preserved state of the app is discarded soon
    /// (behaviour 10.27).
    func isInstalled(_ app: AppIdentity) -> Bool

    /// Whether a process that was connected to a previous service still runs.
    func isRunning(_ process: ProcessMark) -> Bool
}

extension AppLauncher {
    /// By default true, for launchers that only find out when they launch the app.
    package func isInstalled(_ app: AppIdentity) -> Bool { true }

    /// By default false, for launchers whose processes end with the service.
    package func isRunning(_ process: ProcessMark) -> Bool { false }
}

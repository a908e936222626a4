/// Finds the service for managers that are made on this task or thread.
package enum ServiceLocator {
    /// The app that the running code belongs to, when it runs inside a simulation. Managers take it from here when they
    /// are made, and set it again around every callback.
    @TaskLocal package static var current: (any ServiceConnection)?

    /// The service for a manager made here: that of the simulated app, or else of this process.
    package static func connect(
        otherwise ofProcess: @autoclosure () -> any ServiceConnection
    ) -> any ServiceConnection {
        current ?? ofProcess()
    }
}

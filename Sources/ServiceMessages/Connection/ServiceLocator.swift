/// Finds the service for managers that are created in this task or thread.
package enum ServiceLocator {
    /// The app that the running code belongs to, if it runs inside a simulation. Managers read it when they are
    /// created, and set it again around every callback.
    @TaskLocal package static var current: (any ServiceConnection)?

    /// Called where code outside of all simulated apps looks for a service, as the body of a test may by mistake.
    @TaskLocal package static var onOutsider: (@Sendable () -> Void)?

    /// Returns the service for a manager created here: that of the simulated app, or else that of this process.
    package static func connect(
        otherwise ofProcess: @autoclosure () -> any ServiceConnection
    ) -> any ServiceConnection {
        if let current { return current }
        onOutsider?()
        return ofProcess()
    }
}

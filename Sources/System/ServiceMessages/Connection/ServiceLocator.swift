import Synchronization

/// Finds the service for managers that are created in this task or thread.
package enum ServiceLocator {
    /// The app that the running code belongs to, if it runs inside a simulation. Managers read it when they are
    /// created, and set it again around every callback.
    @TaskLocal package static var current: (any ServiceConnection)?

    /// Called where code outside of all simulated apps looks for a service, as the body of a test may by mistake.
    @TaskLocal package static var onOutsider: (@Sendable () -> Void)?

    private static let other = Mutex<(@Sendable () -> (any ServiceConnection)?)?>(nil)
    private static let simulatedApps = Atomic(0)

    /// Sets the function that finds the app of code without a task-local value: a detached task, or a thread of the
    /// app's own.
    package static func findOtherwise(_ find: @escaping @Sendable () -> (any ServiceConnection)?) {
        other.withLock { $0 = find }
    }

    /// The app that the running code belongs to, if it runs inside a simulation.
    package static var found: (any ServiceConnection)? { current ?? other.withLock { $0 }?() }

    package static var isSimulating: Bool { simulatedApps.load(ordering: .relaxed) > 0 }

    /// Counts a simulated app, until it is gone.
    package static func noteSimulatedApp(isThere: Bool) {
        simulatedApps.add(isThere ? 1 : -1, ordering: .relaxed)
    }

    /// Returns the service for a manager created here: that of the simulated app, or else that of this process.
    ///
    /// - Parameters:
    ///   - connection: The service of this process.
    ///   - warn: Called if the process has simulated apps, and the running code belongs to none of them.
    package static func connect(
        otherwise ofProcess: @autoclosure () -> any ServiceConnection,
        warn: () -> Void = {}
    ) -> any ServiceConnection {
        if let found { return found }
        onOutsider?()
        if isSimulating { warn() }
        return ofProcess()
    }
}

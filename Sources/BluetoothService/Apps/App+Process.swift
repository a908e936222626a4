import EventLoops

/// The interface for the component that controls the app's process.
extension App {
    /// The phase of the app's life cycle.
    package var phase: AppPhase { life.phase }

    /// The controller of the app's process.
    package var process: (any AppProcess)? { life.process }

    package var declaration: AppDeclaration { life.declaration }

    /// Handles a life cycle event of the app.
    package func happened(_ event: AppLifecycle.Event) {
        life.handle(event)
    }

    /// Brings the app to the foreground because the user opened it.
    ///
    /// - Returns: `false` if its process is gone.
    package func enter() -> Bool {
        guard life.hasProcess else { return false }
        system.personOpens(identity)
        life.handle(.entered)
        return true
    }

    /// Sets the object that suspends and resumes the app's process.
    package func runs(in process: any AppProcess) {
        life.process = process
    }
}

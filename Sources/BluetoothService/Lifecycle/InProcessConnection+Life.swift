import EventLoops

/// The interface for the component that controls the app's process. May be used from any thread, unless noted.
extension InProcessConnection {
    /// The phase of the app's life cycle.
    package var phase: AppPhase {
        app.with { $0.phase }
    }

    /// Handles a life cycle event of the app.
    package func happened(_ event: AppLifecycle.Event) {
        app.with { $0.happened(event) }
    }

    /// Brings the app to the foreground because the user opened it. On the loop only.
    ///
    /// - Returns: `false` if its process is gone.
    package func enter() -> Bool { app.value.enter() }

    /// Sets the object that suspends and resumes the app's process. On the loop only.
    package func runs(in process: any AppProcess) {
        app.value.runs(in: process)
    }
}

import EventLoops

/// What whoever has the process of an app in hand tells the service of it. From any thread.
extension InProcessConnection {
    /// Where the app is in its life.
    package var phase: AppPhase {
        app.with { $0.phase }
    }

    /// Something has happened to the app.
    package func happened(_ event: AppLifecycle.Event) {
        app.with { $0.happened(event) }
    }

    /// The person opens the app. False when its process is gone. On the loop only.
    package func enter() -> Bool { app.value.enter() }

    /// Says who suspends the app's process and lets it run. On the loop only.
    package func runs(in process: any AppProcess) {
        app.value.runs(in: process)
    }
}

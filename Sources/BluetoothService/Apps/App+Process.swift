import EventLoops

/// What whoever has the process of an app in hand tells the service of it.
extension App {
    /// Where the app is in its life.
    package var phase: AppPhase { life.phase }

    /// Who has its process in hand.
    package var process: (any AppProcess)? { life.process }

    /// What it says of itself.
    package var declaration: AppDeclaration { life.declaration }

    /// Something has happened to the app.
    package func happened(_ event: AppLifecycle.Event) {
        life.handle(event)
    }

    /// The person opens the app. False when its process is gone.
    package func enter() -> Bool {
        guard life.hasProcess else { return false }
        system.personOpens(identity)
        life.handle(.entered)
        return true
    }

    /// Says who suspends the app's process and lets it run.
    package func runs(in process: any AppProcess) {
        life.process = process
    }
}

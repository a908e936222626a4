import EventLoops

// MARK: - What outlives its process

extension BluetoothSystem {
    /// Apps of which something is kept (AB-G05).
    static let maximumPreserved = 64

    /// The managers that are kept of an app, which it has to make when it is launched (behaviour 10.6).
    package func identifiersToRestore(of app: AppIdentity) -> RestoreIdentifiers {
        preserved[app]?.identifiers ?? RestoreIdentifiers()
    }

    /// What an app has said of itself of which something is kept; nil for others.
    package func declaration(ofPreserved app: AppIdentity) -> AppDeclaration? { preserved[app]?.life.declaration }

    /// What is kept of an app, made if there is nothing.
    func preserved(_ identity: AppIdentity, after life: AppLife) -> PreservedApp {
        if let known = preserved[identity] { return known }
        let new = PreservedApp(identity, after: life, system: self)
        new.onEnd = { [weak self, weak new] in
            if let self, let new, preserved[identity] === new { preserved[identity] = nil }
        }
        if preserved.count >= Self.maximumPreserved {
            let oldest = preserved.values.min { $0.life.lastInFront < $1.life.lastInFront }
            trouble("too many apps are kept that do not run: \(oldest?.identity.name ?? "one") is given up")
            oldest?.discard()
        }
        preserved[identity] = new
        return new
    }

    /// The person has ended an app, or has switched Bluetooth off: nothing is kept (behaviour 10.16).
    func discardPreserved(of identity: AppIdentity? = nil) {
        for app in Array(preserved.values) where identity == nil || app.identity == identity { app.discard() }
    }
}

extension AppManager {
    /// The process is gone: what is told waits for the next one, and nobody waits for the answers to what was asked.
    func preserve(in life: AppLife) {
        channels.closeAll()
        move(to: life, subject)
        detach()
    }

    /// Forgets what was to be told.
    func forgetWaiting() {
        mailbox = EventMailbox(Nobody())
        mailbox.detach()
    }

    /// A manager of a new process takes the place of the one that was: it hears how things stood, the state, and what has happened
    /// since, other states among it (behaviour 10.7).
    ///
    /// - Returns: How many events are lost.
    func adopt(_ kept: PreservedApp.Kept, _ sink: any EventSink, as subject: Observation.Subject, in life: AppLife)
        -> Int
    {
        let (waiting, lost) = (mailbox.waiting, mailbox.lost)
        move(to: life, subject)
        begin(sink)
        tell(kept.state, on: life.loop)
        if kept.radio != .unknown { tell(.stateChanged(kept.radio), on: life.loop) }
        for event in waiting { tell(event, on: life.loop) }
        return lost
    }
}

/// Takes events that nobody is to have.
private final class Nobody: EventSink {
    func take(_ event: Event, on loop: any EventLoop) {}
}

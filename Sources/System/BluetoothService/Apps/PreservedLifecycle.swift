import EventLoops
import ServiceMessages

/// The part of an app that outlasts its process. To the rules the app is suspended, and an event that would wake it
/// launches it (behaviour 10.4). Used on the loop only.
final class PreservedLifecycle: ManagerLifecycle {
    let declaration: AppDeclaration
    let executable: String?
    let lastInFront: UInt64
    private(set) var mark: ProcessMark?
    let loop: any EventLoop
    /// Called when an event occurs that launches the app. A manager is about to queue it.
    var onLaunch: (() -> Void)?

    init(after process: ProcessLifecycle) {
        declaration = process.declaration
        executable = process.executable
        lastInFront = process.lastInFront
        mark = process.mark
        loop = process.loop
    }

    init(_ record: AppRecord, lastInFront: UInt64, loop: any EventLoop) {
        declaration = record.declaration
        executable = record.executable
        mark = record.process
        self.lastInFront = lastInFront
        self.loop = loop
    }

    func started(as mark: ProcessMark) { self.mark = mark }

    var phase: AppPhase { .suspended }
    var isPreserved: Bool { true }
    /// The preserved state of an unmanaged app may do all that the app itself could: the app behaves as on a Mac.
    var rules: BackgroundRules { BackgroundRules(declaration, in: phase) }

    func willDeliver(_ event: Event, _ role: ManagerRole, isAwaited: Bool) {
        if rules.wakes(role), event.launches { onLaunch?() }
    }
}

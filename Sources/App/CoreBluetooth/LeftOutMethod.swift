import Synchronization

/// Detects whether a delegate leaves out an optional method. In that case the protocol's default implementation runs
/// and reports so. Swift offers no other way on Linux.
enum LeftOutMethod {
    private final class Note: Sendable {
        let isMade = Atomic(false)
    }

    @TaskLocal private static var note: Note?

    /// Returns whether a default implementation has reported itself while `call` was running.
    static func noted(_ call: () -> Void) -> Bool {
        let note = Note()
        $note.withValue(note, operation: call)
        return note.isMade.load(ordering: .relaxed)
    }

    /// Called by the default implementation of an optional method.
    static func say() {
        note?.isMade.store(true, ordering: .relaxed)
    }
}

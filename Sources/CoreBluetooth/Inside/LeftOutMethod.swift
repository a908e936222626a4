import Synchronization

/// Tells whether a delegate leaves a method out, since then the protocol's own is called, which says so: Swift has no other way to
/// ask on Linux.
enum LeftOutMethod {
    private final class Note: Sendable {
        let isMade = Atomic(false)
    }

    @TaskLocal private static var note: Note?

    /// Whether one of the protocol's own methods says while `call` runs that it is one.
    static func noted(_ call: () -> Void) -> Bool {
        let note = Note()
        $note.withValue(note, operation: call)
        return note.isMade.load(ordering: .relaxed)
    }

    /// Called by a method that a delegate leaves out.
    static func say() {
        note?.isMade.store(true, ordering: .relaxed)
    }
}

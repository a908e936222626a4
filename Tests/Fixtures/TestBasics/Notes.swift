import Synchronization

/// Entries in the order in which any threads add them.
package final class Notes<Note: Sendable>: Sendable {
    private let notes = Mutex<[Note]>([])

    package init() {}

    /// The entries since the last call of ``take()``.
    package var all: [Note] { notes.withLock { $0 } }

    package func add(_ note: Note) { notes.withLock { $0.append(note) } }

    /// Removes and returns the entries so far.
    package func take() -> [Note] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }
}

/// The sequences of one kind of updates of an activity.
struct UpdateStreams<Update: Sendable> {
    /// The number of updates that wait in a sequence. Later ones replace the oldest.
    private static var limit: Int { 64 }

    private var continuations: [AsyncStream<Update>.Continuation] = []

    /// Returns a new sequence; an empty one if there are no more updates.
    mutating func add(isOver: Bool) -> AsyncStream<Update> {
        let (stream, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(Self.limit))
        if isOver { continuation.finish() } else { continuations.append(continuation) }
        return stream
    }

    /// Appends an update to all sequences that a task may still read.
    mutating func send(_ update: Update) {
        continuations.removeAll { if case .terminated = $0.yield(update) { true } else { false } }
    }

    /// Ends all sequences.
    mutating func finish() {
        for continuation in continuations { continuation.finish() }
        continuations = []
    }
}

import CoreBluetooth

/// An asynchronous sequence of events for `for try await`, with a bounded buffer.
///
/// At most ``EventStreamLimits/elements`` elements wait for the app. If it falls further behind, the sequence yields
/// the elements that wait and then throws ``ExtrasError/overflow``, so that no loss goes unnoticed.
///
/// A stream is for one task at a time. It ends without an error when its subject ends, such as a manager that is
/// released, and when the iterating task is cancelled.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The iterator of the sequence.
    public typealias AsyncIterator = AsyncThrowingStream<Element, any Error>.Iterator

    /// The writing end of a stream.
    struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Element, any Error>.Continuation

        /// Appends an element. If there is no room for it, the stream ends with ``ExtrasError/overflow``.
        func send(_ element: Element) {
            if case .dropped = continuation.yield(element) { continuation.finish(throwing: ExtrasError.overflow) }
        }

        func finish(_ error: (any Error)? = nil) { continuation.finish(throwing: error) }

        /// Calls `body` once when the stream has ended for any reason, or when nothing can iterate over it any more.
        func onEnd(_ body: @escaping @Sendable () -> Void) {
            continuation.onTermination = { _ in body() }
        }
    }

    private let stream: AsyncThrowingStream<Element, any Error>

    /// Creates a stream and its writing end.
    ///
    /// - Parameter limit: The maximum number of elements that wait.
    static func make(limit: Int = EventStreamLimits.elements) -> (stream: EventStream, source: Source) {
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>
            .makeStream(bufferingPolicy: .bufferingOldest(limit))
        return (EventStream(stream: stream), Source(continuation: continuation))
    }

    private init(stream: AsyncThrowingStream<Element, any Error>) {
        self.stream = stream
    }

    /// Creates the iterator. All iterators of a stream share its buffer, so use one.
    public func makeAsyncIterator() -> AsyncIterator { stream.makeAsyncIterator() }
}

/// The limits of streams.
public enum EventStreamLimits {
    /// The maximum number of elements that wait for the app, per stream.
    public static let elements = 1_024
}

import CoreBluetooth

/// What comes to an app again and again, for `for try await`. It waits within a bound; an app that falls further behind gets what
/// is there and then ``ExtrasError/overflow``, so that nothing is lost unseen.
///
/// For one task at a time. It ends without an error when whom it is about does, and when the task is cancelled.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Goes through the elements.
    public typealias AsyncIterator = AsyncThrowingStream<Element, any Error>.Iterator

    /// Puts elements in.
    struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Element, any Error>.Continuation

        /// One more; the stream ends when there is no room for it.
        func send(_ element: Element) {
            if case .dropped = continuation.yield(element) { continuation.finish(throwing: ExtrasError.overflow) }
        }

        /// Nothing comes any more.
        func finish(_ error: (any Error)? = nil) { continuation.finish(throwing: error) }

        /// Calls `body` once the stream has ended, whoever ended it, or when nobody can go through it any more.
        func onEnd(_ body: @escaping @Sendable () -> Void) {
            continuation.onTermination = { _ in body() }
        }
    }

    private let stream: AsyncThrowingStream<Element, any Error>

    /// A stream, and what feeds it.
    ///
    /// - Parameter limit: Elements that wait.
    static func make(limit: Int = EventStreamLimits.elements) -> (stream: EventStream, source: Source) {
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>
            .makeStream(bufferingPolicy: .bufferingOldest(limit))
        return (EventStream(stream: stream), Source(continuation: continuation))
    }

    private init(stream: AsyncThrowingStream<Element, any Error>) {
        self.stream = stream
    }

    /// Begins.
    public func makeAsyncIterator() -> AsyncIterator { stream.makeAsyncIterator() }
}

/// The bounds of streams.
public enum EventStreamLimits {
    /// Elements that wait for an app at a time, per stream.
    public static let elements = 1_024
}

import Foundation
import Synchronization

/// Delivers the events of one stream to its delegate, on the run loops in which the stream is scheduled.
final class StreamEvents: Sendable {
    private struct State: @unchecked Sendable {
        // Safe: the stream is only passed on. The delegate belongs to the app and is called on the stream's run loop
        // alone, as the app expects.
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var queues: [RunLoopQueue] = []
        var isDue = false
    }

    private let state = Mutex(State())

    func setStream(_ stream: Stream) {
        state.withLock { [box = Box(stream)] in $0.stream = box.stream }
    }

    var delegate: (any StreamDelegate)? {
        get { state.withLock { Box($0.delegate) }.delegate }
        set { state.withLock { [box = Box(newValue)] in $0.delegate = box.delegate } }
    }

    /// Returns the run loop on which to call the delegate; nil if a callback is already on its way or impossible.
    func callBack() -> RunLoopQueue? {
        state.withLock {
            guard !$0.isDue, $0.delegate != nil, let queue = $0.queues.first else { return nil }
            $0.isDue = true
            return queue
        }
    }

    /// Returns the stream and its delegate for the callback that begins now; nil if the stream was unscheduled or the
    /// delegate removed meanwhile.
    func begin() -> (stream: Stream, delegate: any StreamDelegate)? {
        let box = state.withLock {
            $0.isDue = false
            return $0.queues.isEmpty ? Box() : Box($0.stream, $0.delegate)
        }
        guard let stream = box.stream, let delegate = box.delegate else { return nil }
        return (stream, delegate)
    }

    func schedule(in runLoop: RunLoop, _ mode: RunLoop.Mode) {
        state.withLock { [box = Box(runLoop)] state in
            guard let runLoop = box.runLoop else { return }
            if let queue = state.queues.first(where: { $0.isOf(runLoop) }) {
                queue.add(mode)
            } else {
                state.queues.append(RunLoopQueue(runLoop, mode))
            }
        }
    }

    /// Unschedules the stream. A callback that is on its way there is lost; the next one reports the same event.
    func remove(from runLoop: RunLoop, _ mode: RunLoop.Mode) {
        state.withLock { [box = Box(runLoop)] state in
            guard let runLoop = box.runLoop else { return }
            state.queues.removeAll { $0.isOf(runLoop) && !$0.remove(mode) }
            state.isDue = false
        }
    }

    func removeAll() {
        let queues = state.withLock { state in
            defer { state.queues = [] }
            return state.queues
        }
        for queue in queues { queue.end() }
    }

    /// Carries values that are not `Sendable` through the lock.
    private struct Box: @unchecked Sendable {
        // Safe: see `State`; a run loop is used as `RunLoopQueue` describes.
        var stream: Stream?
        var delegate: (any StreamDelegate)?
        var runLoop: RunLoop?

        init(_ stream: Stream? = nil, _ delegate: (any StreamDelegate)? = nil) {
            self.stream = stream
            self.delegate = delegate
        }

        init(_ delegate: (any StreamDelegate)?) { self.init(nil, delegate) }

        init(_ runLoop: RunLoop) { self.runLoop = runLoop }
    }
}

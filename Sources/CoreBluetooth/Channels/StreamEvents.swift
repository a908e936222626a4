import Foundation
import Synchronization

/// Where the events of one stream go: its delegate, on the run loops that it is scheduled in.
final class StreamEvents: Sendable {
    private struct State: @unchecked Sendable {
        // Safe: the stream is only passed on, and the delegate belongs to the app and is called on the stream's run loop alone, as
        // the app expects.
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var queues: [RunLoopQueue] = []
        /// A callback is on its way.
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

    /// Says where the delegate is to be called; nil when it is about to be, or cannot be.
    func callBack() -> RunLoopQueue? {
        state.withLock {
            guard !$0.isDue, $0.delegate != nil, let queue = $0.queues.first else { return nil }
            $0.isDue = true
            return queue
        }
    }

    /// The delegate is called now: gives it, with the stream, unless it was taken away meanwhile.
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

    /// A callback that is on its way there is lost; the next one tells the same.
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

    /// Takes what is not `Sendable` through the lock.
    private struct Box: @unchecked Sendable {
        // Safe: see `State`; a run loop is used as `RunLoopQueue` says.
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

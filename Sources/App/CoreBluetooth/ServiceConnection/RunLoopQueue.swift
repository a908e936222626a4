import EventLoops
import Foundation
import Synchronization

/// A run loop on which an app is called back.
///
/// A timer that never fires keeps the run loop from returning for lack of sources, as a scheduled stream does on
/// Apple's systems. Making the timer due wakes the run loop from any thread. `RunLoop.perform` does not wake it on
/// Linux, and `CFRunLoopWakeUp` is not accessible.
final class RunLoopQueue: CallbackQueue, @unchecked Sendable {
    // Safe: mutable state is in a mutex, and Core Foundation lets any thread read the mode of a run loop, add timers to
    // it, and change when a timer fires.
    private struct State {
        var modes: [RunLoop.Mode]
        var timer: Timer?
        var callbacks: [@Sendable () -> Void] = []
    }

    private static let never = Date.distantFuture
    private static let now = Date(timeIntervalSinceReferenceDate: 0)

    private let runLoop: RunLoop
    private let state: Mutex<State>

    init(_ runLoop: RunLoop, _ mode: RunLoop.Mode) {
        self.runLoop = runLoop
        state = Mutex(State(modes: [mode]))
        setTimer()
    }

    deinit {
        end()
    }

    func isOf(_ other: RunLoop) -> Bool { runLoop === other }

    var isCurrent: Bool { RunLoop.current === runLoop }

    /// Whether the run loop is running in a mode in which callbacks are delivered.
    var isRunning: Bool {
        guard let mode = runLoop.currentMode else { return false }
        return state.withLock { $0.modes.contains(mode) || $0.modes.contains(.common) }
    }

    func async(_ callback: @escaping @Sendable () -> Void) {
        state.withLock {
            $0.callbacks.append(callback)
            $0.timer?.fireDate = Self.now
        }
    }

    func add(_ mode: RunLoop.Mode) {
        let isNew = state.withLock {
            guard !$0.modes.contains(mode) else { return false }
            $0.modes.append(mode)
            return true
        }
        if isNew { setTimer() }
    }

    /// Removes a mode. Returns false if it was the last one.
    func remove(_ mode: RunLoop.Mode) -> Bool {
        let isLeft = state.withLock {
            $0.modes.removeAll { $0 == mode }
            return !$0.modes.isEmpty
        }
        isLeft ? setTimer() : end()
        return isLeft
    }

    /// Stops calling back. Pending callbacks are dropped.
    func end() {
        state.withLock {
            $0.timer?.invalidate()
            $0.timer = nil
            $0.callbacks = []
        }
    }

    /// Recreates the timer, since a timer stays in its modes for as long as it lives.
    private func setTimer() {
        state.withLock { state in
            state.timer?.invalidate()
            let timer = Timer(fire: Self.never, interval: 1e9, repeats: true) { [weak self] _ in self?.run() }
            for mode in state.modes { runLoop.add(timer, forMode: mode) }
            state.timer = timer
            if !state.callbacks.isEmpty { timer.fireDate = Self.now }
        }
    }

    private func run() {
        let callbacks = state.withLock { state in
            defer { state.callbacks = [] }
            return state.callbacks
        }
        for callback in callbacks { callback() }
    }
}

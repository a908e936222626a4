import EventLoops
import Foundation
import Synchronization

/// A run loop as the place where an app is called back.
///
/// A timer that never comes due keeps the run loop from returning for want of anything to wait for, as a scheduled stream does
/// on Apple's systems. To make it due is what wakes the run loop from any thread: `RunLoop.perform` does not on Linux, and
/// `CFRunLoopWakeUp` is out of reach.
final class RunLoopQueue: CallbackQueue, @unchecked Sendable {
    // Safe: what changes is in a mutex, and Core Foundation lets any thread ask a run loop for its mode, add timers to it, and change
    // when a timer is due.
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

    /// Whether somebody runs it, in a mode in which callbacks come.
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

    /// Calls back in one mode less; false when that was the last one.
    func remove(_ mode: RunLoop.Mode) -> Bool {
        let isLeft = state.withLock {
            $0.modes.removeAll { $0 == mode }
            return !$0.modes.isEmpty
        }
        isLeft ? setTimer() : end()
        return isLeft
    }

    /// Calls back no more.
    func end() {
        state.withLock {
            $0.timer?.invalidate()
            $0.timer = nil
            $0.callbacks = []
        }
    }

    /// A timer is in the modes that it was added to for as long as it lives.
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

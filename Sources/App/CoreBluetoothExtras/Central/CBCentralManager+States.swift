import CoreBluetooth
import Synchronization

extension CBCentralManager {
    /// A new stream of the manager's states: the current one, and each that follows. The stream retains the manager.
    public var states: EventStream<CBManagerState> {
        let last = Mutex<CBManagerState?>(nil)
        let (stream, source) = EventStream<CBManagerState>.make()
        let send: @Sendable (CBManagerState) -> Void = { state in
            last.withLock {
                if $0 != state { source.send(state) }
                $0 = state
            }
        }
        let registration = updates.add { if case .state(let state) = $0 { send(state) } }
        source.onEnd { [self] in updates.remove(registration) }
        last.withLock { last in
            // An event may have arrived already.
            guard last == nil else { return }
            last = state
            source.send(state)
        }
        return stream
    }

    /// Waits until the manager is powered on.
    ///
    /// The call returns at once if it already is.
    ///
    /// - Parameter deadline: The time limit, by the clock of the service. Nil for none.
    /// - Throws: ``ExtrasError/notPoweredOn(_:)`` if the state is `unsupported` or `unauthorized`, which do not pass by
    ///   themselves; ``ExtrasError/deadlinePassed``; or `CancellationError`.
    public func poweredOn(deadline: Duration? = nil) async throws {
        let wait = Wait<Void>()
        let send: @Sendable (CBManagerState) -> Void = { state in
            switch state {
            case .poweredOn: wait.end(.success(()))
            case .unsupported, .unauthorized: wait.end(.failure(ExtrasError.notPoweredOn(state)))
            default: break
            }
        }
        try await wait.value {
            let registration = updates.add { if case .state(let state) = $0 { send(state) } }
            wait.atEnd { [self] in updates.remove(registration) }
            if let deadline {
                wait.atEnd(callBack(after: deadline) { wait.end(.failure(ExtrasError.deadlinePassed)) })
            }
            send(state)
        }
    }
}

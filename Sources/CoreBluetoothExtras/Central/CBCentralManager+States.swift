import CoreBluetooth
import Synchronization

extension CBCentralManager {
    /// The state of the manager: what it is now, and each other one that it comes to.
    public var states: EventStream<CBManagerState> {
        let last = Mutex<CBManagerState?>(nil)
        let (stream, source) = EventStream<CBManagerState>.make()
        let send: @Sendable (CBManagerState) -> Void = { state in
            last.withLock {
                if $0 != state { source.send(state) }
                $0 = state
            }
        }
        let registration = happenings.add { if case .state(let state) = $0 { send(state) } }
        source.onEnd { [self] in happenings.remove(registration) }
        last.withLock { last in
            // Nobody has told of it meanwhile.
            guard last == nil else { return }
            last = state
            source.send(state)
        }
        return stream
    }

    /// Waits until the manager takes commands.
    ///
    /// - Throws: ``ExtrasError/notPoweredOn(_:)`` when there is no controller, or the app may not use Bluetooth; neither ends by
    ///   itself. ``ExtrasError/deadlinePassed``, or `CancellationError`.
    public func poweredOn(deadline: Duration? = nil) async throws {
        let wait = Wait<Void>()
        let take: @Sendable (CBManagerState) -> Void = { state in
            switch state {
            case .poweredOn: wait.end(.success(()))
            case .unsupported, .unauthorized: wait.end(.failure(ExtrasError.notPoweredOn(state)))
            default: break
            }
        }
        try await wait.value {
            let registration = happenings.add { if case .state(let state) = $0 { take(state) } }
            wait.atEnd { [self] in happenings.remove(registration) }
            if let deadline {
                wait.atEnd(callBack(after: deadline) { wait.end(.failure(ExtrasError.deadlinePassed)) })
            }
            take(state)
        }
    }
}

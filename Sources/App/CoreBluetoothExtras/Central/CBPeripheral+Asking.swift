import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

extension CBPeripheral {
    /// Sends a request and waits for the response. If the task is cancelled or the deadline passes, a later response is
    /// dropped.
    ///
    /// - Parameter attribute: The attribute that the request is about. The request fails if it is no longer part of the
    ///   peripheral.
    func answer(
        to request: LinkRequest,
        of attribute: CBAttribute? = nil,
        within deadline: Duration?
    ) async throws -> PeerEvent {
        let wait = Wait<PeerEvent>()
        return try await wait.value {
            limit(wait, to: deadline)
            ask(request, of: attribute) { wait.end($0) }
        }
    }

    /// Ends a wait with an error when the deadline passes, by the clock of the service.
    func limit<Value>(_ wait: Wait<Value>, to deadline: Duration?) {
        guard let deadline else { return }
        wait.atEnd(callBack(after: deadline) { wait.end(.failure(ExtrasError.deadlinePassed)) })
    }
}

extension Result where Failure == ServiceError {
    /// Returns the value, or throws the error as the API reports it.
    func orThrow() throws -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error): throw error.apiError
        }
    }
}

extension ServiceError? {
    /// Throws the error, if there is one, as the API reports it.
    func orThrow() throws {
        if let self { throw self.apiError }
    }
}

extension PeerEvent {
    var isNoAnswer: any Error { ServiceError(.unknown, reason: "unexpected response: \(self)").apiError }
}

extension CBPeripheral {
    var asynchronous: PeripheralAnnex { annex { PeripheralAnnex() } }
}

/// The pending asynchronous operations of one peripheral.
final class PeripheralAnnex: Sendable {
    private struct Attempt {
        var waiting = 0
        /// Whether the first waiting call started the attempt, and not the app by `connect(_:options:)` of Core
        /// Bluetooth.
        var isOurs = false
    }

    private let attempt = Mutex(Attempt())
    let subscriptions = Subscriptions()
    /// The open streams of changes of the link.
    let linkWatchers = Mutex(0)
    /// Whether there is a stream of distances.
    let isMeasuring = Atomic(false)

    /// Adds a call that waits for a connection to a peripheral in this state.
    func joinAttempt(_ state: CBPeripheralState) {
        attempt.withLock {
            if $0.waiting == 0 { $0.isOurs = state != .connecting && state != .connected }
            $0.waiting += 1
        }
    }

    /// Removes a waiting call. Returns whether it was the last one for an attempt that was started here.
    func leaveAttempt() -> Bool {
        attempt.withLock {
            $0.waiting -= 1
            return $0.waiting == 0 && $0.isOurs
        }
    }
}

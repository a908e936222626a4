import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

extension CBCentralManager {
    /// Connects to a peripheral and waits for the connection.
    ///
    /// The call returns at once if the peripheral is connected. Concurrent calls for one peripheral share one attempt.
    /// If the deadline passes or the task is cancelled, the attempt is cancelled, unless other calls wait for it too or
    /// the app had started it by `connect(_:options:)` of Core Bluetooth (behaviour 15.2).
    ///
    /// The delegate is called too, and first.
    ///
    /// - Parameters:
    ///   - peripheral: A peripheral of this manager.
    ///   - options: The options, by the `CBConnectPeripheralOption` keys. They have no effect on an attempt that is
    ///     already pending.
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Throws: `CBError` if the attempt fails or is cancelled, ``ExtrasError/deadlinePassed``,
    ///   ``ExtrasError/notPoweredOn(_:)``, or `CancellationError`.
    public func openConnection(
        to peripheral: CBPeripheral,
        options: [String: Any]? = nil,
        deadline: Duration? = nil
    ) async throws {
        guard state == .poweredOn else { throw ExtrasError.notPoweredOn(state) }
        guard knows(peripheral) else {
            let reason = "the peripheral is not one of this manager or is no longer valid; retrieve it again"
            throw ServiceError(.unknownDevice, reason: reason).apiError
        }
        let wait = Wait<Void>()
        var hasJoined = false
        do {
            try await wait.value {
                hasJoined = true
                peripheral.asynchronous.joinAttempt(peripheral.state)
                peripheral.listen(for: wait)
                peripheral.limit(wait, to: deadline)
                connect(peripheral, options: options)
                if peripheral.state == .connected { wait.end(.success(())) }
            }
            _ = peripheral.asynchronous.leaveAttempt()
        } catch {
            let isLast = hasJoined && peripheral.asynchronous.leaveAttempt()
            if isLast, error is CancellationError || error as? ExtrasError == .deadlinePassed {
                cancelIfLive(peripheral)
            }
            throw error
        }
    }

    private func cancelIfLive(_ peripheral: CBPeripheral) {
        guard state == .poweredOn, knows(peripheral) else { return }
        if peripheral.state == .connecting || peripheral.state == .connected { cancelPeripheralConnection(peripheral) }
    }

    /// Cancels a connection or a pending attempt, and waits for its end.
    ///
    /// The call returns at once if there is neither. If the task is cancelled, it cancels the connection without
    /// waiting. The link itself stays up as long as other apps use it (behaviour 3.10).
    ///
    /// - Parameter peripheral: A peripheral of this manager.
    public func disconnect(_ peripheral: CBPeripheral) async {
        guard state == .poweredOn, knows(peripheral), peripheral.state != .disconnected else { return }
        let wait = Wait<Void>()
        let registration = peripheral.updates.add {
            switch $0 {
            case .disconnected, .connectionFailed: wait.end(.success(()))
            case .connected, .servicesModified, .event: break
            }
        }
        wait.atEnd { peripheral.updates.remove(registration) }
        cancelIfLive(peripheral)
        if peripheral.state == .disconnected { wait.end(.success(())) }
        try? await wait.value()
    }

    /// The disconnections of a peripheral, including those when Bluetooth is switched off, of which Core Bluetooth has
    /// no event (behaviours 1.11, 15.13).
    ///
    /// The stream retains the peripheral and outlasts its connections.
    ///
    /// - Parameter peripheral: The peripheral.
    /// - Returns: A new stream with the disconnections from now on.
    public func disconnections(of peripheral: CBPeripheral) -> EventStream<Disconnection> {
        peripheral.updates.stream(keeping: peripheral) {
            if case .disconnected(let end) = $0 { $1.send(Disconnection(end)) }
        }
    }
}

extension CBPeripheral {
    /// Ends a wait when the peripheral is connected, or will not be.
    fileprivate func listen(for wait: Wait<Void>) {
        let registration = updates.add { [weak self] update in
            switch update {
            case .connected: wait.end(.success(()))
            case .connectionFailed(let error): wait.end(.failure(error))
            // If the peripheral is connecting, this is the end of an older connection, or the system or a delegate has
            // started anew.
            case .disconnected(let end) where self?.state != .connecting:
                let error = end.state.map { ExtrasError.notPoweredOn($0) } ?? end.error
                let givenUp = ServiceError(.operationCancelled, reason: "the connection was cancelled").apiError
                wait.end(.failure(error ?? givenUp))
            case .disconnected, .servicesModified, .event: break
            }
        }
        wait.atEnd { [self] in updates.remove(registration) }
    }
}

/// The end of a connection.
public struct Disconnection: Sendable {
    /// The cause of a disconnection.
    public enum Cause: Sendable {
        /// This app cancelled the connection.
        case asked
        /// The peer ended the link, or it was lost. The error says which (behaviour 3.12).
        case lost(any Error)
        /// The manager's new state, which ended all its connections. Delegates receive the state alone
        /// (behaviour 1.11).
        case state(CBManagerState)
    }

    /// The cause of the disconnection.
    public var cause: Cause
    /// Whether the system connects again by itself (behaviour 3.17).
    public var isReconnecting: Bool
    /// The time of the disconnection.
    public var date: Date

    init(_ end: ConnectionEnd) {
        cause = end.state.map { .state($0) } ?? end.error.map { .lost($0) } ?? .asked
        isReconnecting = end.isReconnecting
        date = Date(timeIntervalSinceReferenceDate: end.time)
    }
}

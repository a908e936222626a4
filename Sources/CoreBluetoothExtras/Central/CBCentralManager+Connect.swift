import BluetoothService
import CoreBluetooth
import Foundation
import Synchronization

extension CBCentralManager {
    /// Connects, and waits for it; at once when it is connected. Who waits for the same peripheral waits for the same attempt.
    ///
    /// When the time is over, or the task is cancelled, the attempt is given up, unless others wait for it too or the app had begun it
    /// by its delegate's method (behaviour 15.2).
    ///
    /// - Parameters:
    ///   - options: By the `CBConnectPeripheralOption` keys.
    ///   - deadline: How long it may take; without one, however long.
    /// - Throws: `CBError` when it fails or is given up, ``ExtrasError/deadlinePassed``, ``ExtrasError/notPoweredOn(_:)``, or
    ///   `CancellationError`.
    public func connect(
        _ peripheral: CBPeripheral,
        options: [String: Any]? = nil,
        deadline: Duration? = nil
    ) async throws {
        guard state == .poweredOn else { throw ExtrasError.notPoweredOn(state) }
        guard knows(peripheral) else {
            let reason = "the peripheral is not one of this manager, or no longer; retrieve it again"
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

    /// Gives up a pending or live connection, and waits until it is over for this app; at once when there is none. The device stays
    /// connected to the system as long as others use it. In a task that is cancelled it does not wait.
    public func disconnect(_ peripheral: CBPeripheral) async {
        guard state == .poweredOn, knows(peripheral), peripheral.state != .disconnected else { return }
        let wait = Wait<Void>()
        let registration = peripheral.happenings.add {
            switch $0 {
            case .disconnected, .connectionFailed: wait.end(.success(()))
            case .connected, .servicesModified, .told: break
            }
        }
        wait.atEnd { peripheral.happenings.remove(registration) }
        cancelIfLive(peripheral)
        if peripheral.state == .disconnected { wait.end(.success(())) }
        try? await wait.value()
    }

    /// The disconnections of a peripheral, those included that come with the power's going off (behaviour 15.13).
    public func disconnections(of peripheral: CBPeripheral) -> EventStream<Disconnection> {
        peripheral.happenings.stream(keeping: peripheral) {
            if case .disconnected(let end) = $0 { $1.send(Disconnection(end)) }
        }
    }
}

extension CBPeripheral {
    /// Ends a wait when this is connected, or will not be.
    fileprivate func listen(for wait: Wait<Void>) {
        let registration = happenings.add { [weak self] happening in
            switch happening {
            case .connected: wait.end(.success(()))
            case .connectionFailed(let error): wait.end(.failure(error))
            // It may be the end of an older connection, or the system, or a delegate, may have begun anew.
            case .disconnected(let end) where self?.state != .connecting:
                let error = end.state.map { ExtrasError.notPoweredOn($0) } ?? end.error
                let givenUp = ServiceError(.operationCancelled, reason: "the connection was given up").apiError
                wait.end(.failure(error ?? givenUp))
            case .disconnected, .servicesModified, .told: break
            }
        }
        wait.atEnd { [self] in happenings.remove(registration) }
    }
}

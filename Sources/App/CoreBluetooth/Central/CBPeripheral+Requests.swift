import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// Requests with a completion, in addition to the delegate's callback, for other modules of this package.
extension CBPeripheral {
    /// Sends a request to the peripheral.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - attribute: The attribute that the request is about. The request fails if it is no longer part of the
    ///     peripheral.
    ///   - completion: Called once: with the event that answers, on the manager's queue after the delegate; or with an
    ///     error, on the caller's thread if the request cannot be sent.
    package func ask(
        _ request: LinkRequest,
        of attribute: CBAttribute? = nil,
        completion: @escaping @Sendable (Result<PeerEvent, any Error>) -> Void
    ) {
        let number: Result<UInt32, ServiceError> = contents.withLock {
            if let obstacle = obstacle($0, attribute) { return .failure(obstacle) }
            let full = ServiceError(.outOfSpace, reason: "too many requests are pending")
            guard let number = $0.ledger.add(completion) else { return .failure(full) }
            if let attribute { $0.pending.add(attribute, request) }
            return .success(number)
        }
        switch number {
        case .success(let number): send(.ask(number, request))
        case .failure(let error): completion(.failure(error.apiError))
        }
    }

    /// Returns why a request cannot be sent: there is no connection, or its attribute is no longer valid
    /// (behaviour 4.16).
    private func obstacle(_ contents: borrowing PeripheralContents, _ attribute: CBAttribute?) -> ServiceError? {
        guard contents.state == .connected, !isRestoring else {
            return ServiceError(.notConnected, reason: "the peripheral is not connected")
        }
        guard let attribute, !contents.tree.contains(attribute) else { return nil }
        return .noLongerValid(attribute)
    }

    /// Completes the request with this number. Returns whether it was pending.
    @discardableResult
    func settle(_ number: UInt32, _ event: PeerEvent) -> Bool {
        guard let completion = contents.withLock({ $0.ledger.remove(number) }) else { return false }
        completion(.success(event))
        return true
    }

    func settleAll(_ error: any Error) {
        for completion in contents.withLock({ $0.ledger.removeAll() }) { completion(.failure(error)) }
    }

    /// Sends a request that has no response. Without a connection it has no effect.
    package func sendCommand(_ request: LinkRequest) {
        if state == .connected, !isRestoring { send(request) }
    }

    /// The outcome of trying a write without response.
    package enum CommandOutcome: Sendable {
        case sent
        /// There are no credits. The service returns some later.
        case full
        /// The value is longer than the limit, in octets. Nothing was sent.
        case tooLong(limit: Int)
        case failed(any Error)
    }

    /// Sends a write without response if that is possible now, and in full.
    package func tryWritingWithoutResponse(_ data: Data, to characteristic: CBCharacteristic) -> CommandOutcome {
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            let reason = "the characteristic does not support writes without response"
            return .failed(ServiceError(.operationNotSupported, reason: reason).apiError)
        }
        let outcome: CommandOutcome = contents.withLock {
            if let obstacle = obstacle($0, characteristic) { return .failed(obstacle.apiError) }
            guard data.count <= $0.maximumWriteLength else { return .tooLong(limit: $0.maximumWriteLength) }
            return $0.useWriteCredit() ? .sent : .full
        }
        if case .sent = outcome {
            let value = PacketBuffer(copying: data)
            send(.writeWithoutResponse(characteristic.handle, value: value))
        }
        return outcome
    }

    /// The object for a discovered service.
    package func service(at handle: AttributeHandle) -> CBService? { contents.withLock { $0.tree.service(handle) } }

    /// The object for a discovered characteristic, by the handle of its value.
    package func characteristic(at handle: AttributeHandle) -> CBCharacteristic? {
        contents.withLock { $0.tree.characteristic(handle) }
    }

    /// The object for a discovered descriptor.
    package func descriptor(at handle: AttributeHandle) -> CBDescriptor? {
        contents.withLock { $0.tree.descriptor(handle) }
    }

    /// Completes all requests with an error and tells the listeners, after the manager has dropped the connection
    /// without calling the delegate.
    func lost(_ error: any Error, with state: CBManagerState?) {
        settleAll(error)
        updates.notify(.disconnected(ConnectionEnd(error: error, time: CFAbsoluteTimeGetCurrent(), state: state)))
    }
}

extension ServiceError {
    static func noLongerValid(_ attribute: CBAttribute) -> ServiceError {
        ServiceError(.invalidHandle, reason: "\(attribute) is no longer part of the peripheral")
    }
}

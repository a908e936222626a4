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
            guard $0.connection.state == .connected, !registry.isRestoring.load(ordering: .acquiring) else {
                return .failure(ServiceError(.notConnected, reason: "the peripheral is not connected"))
            }
            // An attribute that is no longer valid (behaviour 4.16).
            if let attribute, !$0.tree.contains(attribute) {
                let reason = "\(attribute) is no longer part of the peripheral"
                return .failure(ServiceError(.invalidHandle, reason: reason))
            }
            let full = ServiceError(.outOfSpace, reason: "too many requests are pending")
            return $0.ledger.add(completion).map { .success($0) } ?? .failure(full)
        }
        switch number {
        case .success(let number): link.send(.ask(number, request), of: identifier)
        case .failure(let error): completion(.failure(error.apiError))
        }
    }

    /// Completes the request with this number. Returns whether it was pending.
    @discardableResult
    func settle(_ number: UInt32, _ event: PeerEvent) -> Bool {
        guard let completion = contents.withLock({ $0.ledger.remove(number) }) else { return false }
        completion(.success(event))
        return true
    }

    /// Completes all pending requests with an error.
    func settleAll(_ error: any Error) {
        for completion in contents.withLock({ $0.ledger.removeAll() }) { completion(.failure(error)) }
    }

    /// Sends a request that has no response. Without a connection it has no effect.
    package func tell(_ request: LinkRequest) {
        if state == .connected, !registry.isRestoring.load(ordering: .acquiring) { link.send(request, of: identifier) }
    }

    /// Returns the service's reply to a query, or nil if there is none.
    package func reply(to query: Query) -> Reply? { try? link.ask(query).get() }

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
            guard $0.connection.state == .connected, !registry.isRestoring.load(ordering: .acquiring) else {
                return .failed(ServiceError(.notConnected, reason: "the peripheral is not connected").apiError)
            }
            guard $0.tree.contains(characteristic) else {
                let reason = "\(characteristic) is no longer part of the peripheral"
                return .failed(ServiceError(.invalidHandle, reason: reason).apiError)
            }
            guard data.count <= $0.maximumWriteLength else { return .tooLong(limit: $0.maximumWriteLength) }
            guard $0.writeCredits > 0 else { return .full }
            $0.writeCredits -= 1
            return .sent
        }
        if case .sent = outcome {
            let value = PacketBuffer(copying: data)
            link.send(.writeWithoutResponse(characteristic.handle, value: value), of: identifier)
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

    /// Creates the object for a channel that a numbered request has opened.
    package func takeOver(_ channel: ChannelID, psm: CBL2CAPPSM) -> CBL2CAPChannel {
        CBL2CAPChannel(channel, psm: psm, peer: self, link: link)
    }

    /// Closes a channel that was opened but is no longer wanted.
    package func refuse(_ channel: ChannelID) { link.send(.close, on: channel) }

    /// Calls `body` on the manager's queue after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        link.callBack(after: delay, body)
    }
}

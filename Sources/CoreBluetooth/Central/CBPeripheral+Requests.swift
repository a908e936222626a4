import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// Requests whose answer comes back to whoever asked, besides what the delegate is told: for other modules of this package.
extension CBPeripheral {
    /// Asks something of the peripheral. `completion` is called once: with the event that answers, on the manager's queue and after
    /// the delegate; or with an error, which comes at once when nothing can be asked.
    ///
    /// - Parameter attribute: What the request is about; it fails when that is no longer part of the peripheral.
    package func ask(
        _ request: LinkRequest,
        of attribute: CBAttribute? = nil,
        completion: @escaping @Sendable (Result<PeerEvent, any Error>) -> Void
    ) {
        let number: Result<UInt32, ServiceError> = contents.withLock {
            guard $0.connection.state == .connected, !registry.isRestoring.load(ordering: .acquiring) else {
                return .failure(ServiceError(.notConnected, reason: "the peripheral is not connected"))
            }
            // Behaviour 4.16.
            if let attribute, !$0.tree.contains(attribute) {
                let reason = "\(attribute) is no longer part of the peripheral"
                return .failure(ServiceError(.invalidHandle, reason: reason))
            }
            let full = ServiceError(.outOfSpace, reason: "too many requests are under way")
            return $0.ledger.add(completion).map { .success($0) } ?? .failure(full)
        }
        switch number {
        case .success(let number): link.send(.ask(number, request), of: identifier)
        case .failure(let error): completion(.failure(error.apiError))
        }
    }

    /// An answer has come: whoever waits for it has it now. Says whether somebody did.
    @discardableResult
    func settle(_ number: UInt32, _ event: PeerEvent) -> Bool {
        guard let completion = contents.withLock({ $0.ledger.remove(number) }) else { return false }
        completion(.success(event))
        return true
    }

    /// No answer comes any more; all who wait hear why.
    func settleAll(_ error: any Error) {
        for completion in contents.withLock({ $0.ledger.removeAll() }) { completion(.failure(error)) }
    }

    /// Asks something that nothing answers; nothing happens when it is not connected.
    package func tell(_ request: LinkRequest) {
        if state == .connected, !registry.isRestoring.load(ordering: .acquiring) { link.send(request, of: identifier) }
    }

    /// What the service says to a question; nil when it cannot be asked.
    package func reply(to query: Query) -> Reply? { try? link.ask(query).get() }

    /// What comes of a write without response that is tried now.
    package enum CommandOutcome: Sendable {
        case sent
        /// There is no room; the service tells when there is.
        case full
        /// Only so many octets fit; nothing was sent.
        case tooLong(limit: Int)
        case failed(any Error)
    }

    /// Sends a write without response if it can be sent now, whole.
    package func tryWritingWithoutResponse(_ data: Data, to characteristic: CBCharacteristic) -> CommandOutcome {
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            let reason = "the characteristic takes no writes without response"
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

    /// The object for a service that was discovered.
    package func service(at handle: AttributeHandle) -> CBService? { contents.withLock { $0.tree.service(handle) } }

    /// The object for a characteristic that was discovered, by the handle of its value.
    package func characteristic(at handle: AttributeHandle) -> CBCharacteristic? {
        contents.withLock { $0.tree.characteristic(handle) }
    }

    /// The object for a descriptor that was discovered.
    package func descriptor(at handle: AttributeHandle) -> CBDescriptor? {
        contents.withLock { $0.tree.descriptor(handle) }
    }

    /// The channel that was opened for a numbered request.
    package func takeOver(_ channel: ChannelID, psm: CBL2CAPPSM) -> CBL2CAPChannel {
        CBL2CAPChannel(channel, psm: psm, peer: self, link: link)
    }

    /// Nobody wants the channel any more that was opened.
    package func refuse(_ channel: ChannelID) { link.send(.close, on: channel) }

    /// Calls `body` on the manager's queue after a time by the clock of the service, unless what it returns is called.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        link.callBack(after: delay, body)
    }
}

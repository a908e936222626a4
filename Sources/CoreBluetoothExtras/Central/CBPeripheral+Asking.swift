import BluetoothService
import CoreBluetooth

extension CBPeripheral {
    /// Asks something, and waits for the answer. When the task is cancelled or the time is over, whatever comes later is for nobody.
    ///
    /// - Parameter attribute: What the request is about; it fails when that is no longer part of the peripheral.
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

    /// Ends a wait with an error when the time is over, by the clock of the service.
    func limit<Value>(_ wait: Wait<Value>, to deadline: Duration?) {
        guard let deadline else { return }
        wait.atEnd(callBack(after: deadline) { wait.end(.failure(ExtrasError.deadlinePassed)) })
    }
}

extension Result where Failure == ServiceError {
    /// The value, or the error as the API shows it.
    func orThrow() throws -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error): throw error.apiError
        }
    }
}

extension ServiceError? {
    /// Nothing, or the error as the API shows it.
    func orThrow() throws {
        if let self { throw self.apiError }
    }
}

extension PeerEvent {
    /// The service has answered what was not asked.
    var isNoAnswer: any Error { ServiceError(.unknown, reason: "\(self) is no answer").apiError }
}

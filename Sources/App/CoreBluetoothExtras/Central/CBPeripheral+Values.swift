import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// Reads and writes with a result for each call. Notifications are never mistaken for the result (behaviour 15.1).
///
/// The delegate is called too, and first. Every call ends, as those of discovery do (behaviour 15.11). If the peer
/// requires security, the system pairs first (behaviour 6.1).
extension CBPeripheral {
    /// Reads the value of a characteristic. The system fetches a long value in several requests (behaviour 5.2).
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic. If it is no longer valid the call throws `CBError.invalidHandle`
    ///     (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The value in the peer's response to this very request.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func read(_ characteristic: CBCharacteristic, deadline: Duration? = nil) async throws -> Data {
        let request = LinkRequest.readCharacteristic(characteristic.handle)
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .valueRead(_, let result) = event else { throw event.isNoAnswer }
        return Data(try result.orThrow())
    }

    /// Reads the value of a descriptor. The system fetches a long value in several requests (behaviour 5.2).
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor. If it is no longer valid the call throws `CBError.invalidHandle`
    ///     (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The octets of the value, as on the wire.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func read(_ descriptor: CBDescriptor, deadline: Duration? = nil) async throws -> Data {
        let request = LinkRequest.readDescriptor(descriptor.handle)
        let event = try await answer(to: request, of: descriptor, within: deadline)
        guard case .descriptorUpdated(_, let result) = event else { throw event.isNoAnswer }
        return Data(try result.orThrow())
    }

    /// Writes the value of a characteristic with response, and waits for the response.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - characteristic: The characteristic. If it is no longer valid the call throws `CBError.invalidHandle`
    ///     (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func write(_ data: Data, for characteristic: CBCharacteristic, deadline: Duration? = nil) async throws {
        let request = LinkRequest.writeCharacteristic(characteristic.handle, value: PacketBuffer(copying: data))
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .valueWritten(_, let error) = event else { throw event.isNoAnswer }
        try error.orThrow()
    }

    /// Writes the value of a descriptor, and waits for the response.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - descriptor: The descriptor. For a Client Characteristic Configuration (2902) the call throws
    ///     `CBError.invalidParameters`, where Apple's method raises an exception (behaviour 15.28). Use
    ///     ``notifications(of:)`` or `setNotifyValue(_:for:)` for that.
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func write(_ data: Data, for descriptor: CBDescriptor, deadline: Duration? = nil) async throws {
        guard descriptor.uuid.uuid != 0x2902 else {
            throw ServiceError(.invalidParameters, reason: "only the system writes this descriptor").apiError
        }
        let request = LinkRequest.writeDescriptor(descriptor.handle, value: PacketBuffer(copying: data))
        let event = try await answer(to: request, of: descriptor, within: deadline)
        guard case .descriptorWritten(_, let error) = event else { throw event.isNoAnswer }
        try error.orThrow()
    }

    /// Writes the value of a characteristic without response, as soon as there is room (behaviour 15.5).
    ///
    /// When the call returns, the value was sent, which does not mean that it has arrived. Calls that wait for room
    /// proceed in order.
    ///
    /// - Parameters:
    ///   - data: The value. Nothing is cut off.
    ///   - characteristic: The characteristic. If it is no longer valid the call throws `CBError.invalidHandle`
    ///     (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Throws: ``ExtrasError/tooLong(maximum:)`` for a value that Apple's method would cut, and the errors of
    ///   `read(_:deadline:)`.
    public func writeWithoutResponse(
        _ data: Data,
        for characteristic: CBCharacteristic,
        deadline: Duration? = nil
    ) async throws {
        let wait = Wait<Void>()
        let turn = Mutex(())
        let attempt: @Sendable () -> Void = { [self] in
            // One attempt at a time, so that the value is sent once.
            turn.withLock { _ in
                if wait.isOver { return }
                switch tryWritingWithoutResponse(data, to: characteristic) {
                case .sent: wait.end(.success(()))
                case .full: break
                case .tooLong(let limit): wait.end(.failure(ExtrasError.tooLong(maximum: limit)))
                case .failed(let error): wait.end(.failure(error))
                }
            }
        }
        try await wait.value {
            limit(wait, to: deadline)
            // When there is room, waiting calls are notified in the order in which they began to wait.
            let registration = updates.add {
                switch $0 {
                case .event(.writeCreditsReturned), .disconnected, .servicesModified: attempt()
                case .event, .connected, .connectionFailed: break
                }
            }
            wait.atEnd { [self] in updates.remove(registration) }
            attempt()
        }
    }

    /// Reads the signal strength of the link.
    ///
    /// - Parameter deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The signal strength in dBm.
    /// - Throws: `CBError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func readSignalStrength(deadline: Duration? = nil) async throws -> Int {
        let event = try await answer(to: .readRSSI, within: deadline)
        guard case .rssiRead(let result) = event else { throw event.isNoAnswer }
        return try result.orThrow()
    }
}

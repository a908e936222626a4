import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation
import Synchronization

/// Values, with a result for each call that no notification is taken for (behaviour 15.1). The delegate is called too, and first.
/// Every call ends, as those of discovery do.
extension CBPeripheral {
    /// Reads a value, however long it is.
    ///
    /// - Returns: What the peer answered to this very request.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func read(_ characteristic: CBCharacteristic, deadline: Duration? = nil) async throws -> Data {
        let request = LinkRequest.readCharacteristic(characteristic.handle)
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .valueRead(_, let result) = event else { throw event.isNoAnswer }
        return Data(try result.orThrow())
    }

    /// Reads a descriptor, however long it is.
    public func read(_ descriptor: CBDescriptor, deadline: Duration? = nil) async throws -> Data {
        let request = LinkRequest.readDescriptor(descriptor.handle)
        let event = try await answer(to: request, of: descriptor, within: deadline)
        guard case .descriptorUpdated(_, let result) = event else { throw event.isNoAnswer }
        return Data(try result.orThrow())
    }

    /// Writes a value, and waits until the peer has taken it.
    public func write(_ data: Data, for characteristic: CBCharacteristic, deadline: Duration? = nil) async throws {
        let request = LinkRequest.writeCharacteristic(characteristic.handle, value: PacketBuffer(copying: data))
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .valueWritten(_, let error) = event else { throw event.isNoAnswer }
        try error.orThrow()
    }

    /// Writes a descriptor, and waits until the peer has taken it. For a Client Characteristic Configuration (2902), which
    /// ``notifications(of:)`` and `setNotifyValue(_:for:)` are for, it throws `CBError.invalidParameters`, where Apple's method
    /// raises an exception (behaviour 15.28).
    public func write(_ data: Data, for descriptor: CBDescriptor, deadline: Duration? = nil) async throws {
        guard descriptor.uuid.uuid != 0x2902 else {
            throw ServiceError(.invalidParameters, reason: "the system writes this descriptor").apiError
        }
        let request = LinkRequest.writeDescriptor(descriptor.handle, value: PacketBuffer(copying: data))
        let event = try await answer(to: request, of: descriptor, within: deadline)
        guard case .descriptorWritten(_, let error) = event else { throw event.isNoAnswer }
        try error.orThrow()
    }

    /// Writes without a response, as soon as there is room (behaviour 15.5). That it was sent does not say that it has arrived.
    ///
    /// - Throws: ``ExtrasError/tooLong(maximum:)`` where Apple's method cuts off what does not fit; besides as ``read(_:deadline:)``.
    public func writeWithoutResponse(
        _ data: Data,
        for characteristic: CBCharacteristic,
        deadline: Duration? = nil
    ) async throws {
        let wait = Wait<Void>()
        let turn = Mutex(())
        let attempt: @Sendable () -> Void = { [self] in
            // One at a time, so that it is sent once.
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
            // Those who wait are told of room in the order in which they came.
            let registration = happenings.add {
                switch $0 {
                case .told(.writeCreditsReturned), .disconnected, .servicesModified: attempt()
                case .told, .connected, .connectionFailed: break
                }
            }
            wait.atEnd { [self] in happenings.remove(registration) }
            attempt()
        }
    }

    /// Reads the signal strength of the link, in dBm.
    public func readRSSI(deadline: Duration? = nil) async throws -> Int {
        let event = try await answer(to: .readRSSI, within: deadline)
        guard case .rssiRead(let result) = event else { throw event.isNoAnswer }
        return try result.orThrow()
    }
}

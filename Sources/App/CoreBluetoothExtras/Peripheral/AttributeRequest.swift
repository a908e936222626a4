import CoreBluetooth
import Foundation

/// A central's request to read or write values, to be answered once.
///
/// If nothing has answered it, it is refused when its last reference is released. All methods may be called from any
/// thread.
public final class AttributeRequest: Sendable {
    /// The operation that a central requests.
    public enum Operation: Sendable {
        /// Read the value of a characteristic from an offset on, in octets (behaviour 7.31).
        case read(CBMutableCharacteristic, offset: Int)
        /// Write all of these values, or none (behaviour 7.35).
        case write([Write])
    }

    /// One write of a request.
    public struct Write: Sendable {
        /// The characteristic to be written.
        public let characteristic: CBMutableCharacteristic
        /// The offset in the value, in octets.
        public let offset: Int
        /// The octets to be written.
        public let value: Data
    }

    /// The central that made the request.
    public let central: CBCentral
    /// The requested operation, with everything needed to answer it.
    public let operation: Operation
    /// Whether the central waits for a response. A write without response has none (behaviour 7.36).
    public var needsResponse: Bool { first.needsResponse }

    // The request through which all of them are answered.
    private let first: CBATTRequest
    private weak let manager: CBPeripheralManager?

    /// Creates a request from those of one callback.
    ///
    /// - Precondition: There is at least one request.
    init(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) {
        first = requests[0]
        central = first.central
        self.manager = manager
        let writes = requests.compactMap { request in
            (request.characteristic as? CBMutableCharacteristic).map {
                Write(characteristic: $0, offset: request.offset, value: request.value ?? Data())
            }
        }
        operation = isRead ? .read(writes[0].characteristic, offset: first.offset) : .write(writes)
    }

    deinit {
        _ = answer(.unlikelyError, nil)
    }

    /// Answers a read with a value, or accepts a write.
    ///
    /// For a read, pass the whole value: the octets from the offset on are sent, and an offset past the end is refused
    /// (behaviour 7.31). A second answer has no effect but a line in the log.
    ///
    /// - Parameter value: The value to be read. Ignored for a write.
    public func respond(with value: Data = Data()) {
        guard case .read(_, let offset) = operation else { return finish(.success, nil) }
        guard offset <= value.count else { return finish(.invalidOffset, nil) }
        finish(.success, Data(value.dropFirst(offset)))
    }

    /// Refuses the request. A second answer has no effect but a line in the log.
    ///
    /// - Parameter code: The reason. `success` is sent as `unlikelyError`.
    public func reject(_ code: CBATTError.Code) {
        finish(code == .success ? .unlikelyError : code, nil)
    }

    private func finish(_ code: CBATTError.Code, _ value: Data?) {
        if !answer(code, value) { Misuse.report("\(first) has already been answered") }
    }

    private func answer(_ code: CBATTError.Code, _ value: Data?) -> Bool {
        guard let manager else {
            first.abandon()
            return true
        }
        return manager.answer(first, code, value: value)
    }
}

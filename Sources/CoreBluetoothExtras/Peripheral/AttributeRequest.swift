import CoreBluetooth
import Foundation

/// A read or write of a central, to be answered once. One that nobody answers is refused when the last reference to it is gone.
public final class AttributeRequest: Sendable {
    /// What a central asks.
    public enum Operation: Sendable {
        /// It wants the value from an offset on, in octets.
        case read(CBMutableCharacteristic, offset: Int)
        /// It wants all of these to be written, or none (behaviour 7.35).
        case write([Write])
    }

    /// One write of a request.
    public struct Write: Sendable {
        /// What is written.
        public let characteristic: CBMutableCharacteristic
        /// Where in the value, in octets.
        public let offset: Int
        /// The octets.
        public let value: Data
    }

    /// Who asks.
    public let central: CBCentral
    /// What it asks.
    public let operation: Operation
    /// Whether it waits for an answer; what it writes without response has none (behaviour 7.36).
    public var needsResponse: Bool { first.needsResponse }

    // The request that the answer of all goes by.
    private let first: CBATTRequest
    private let owner: Owner

    private struct Owner: Sendable {
        weak var manager: CBPeripheralManager?
    }

    /// - Precondition: There is one request at least.
    init(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) {
        first = requests[0]
        central = first.central
        owner = Owner(manager: manager)
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

    /// Answers a read with the whole value: the octets from the offset on are sent, and an offset past the end is refused
    /// (behaviour 7.31). A write it accepts, whatever the value.
    ///
    /// A second answer has no effect, and the log says so.
    public func respond(with value: Data = Data()) {
        guard case .read(_, let offset) = operation else { return finish(.success, nil) }
        guard offset <= value.count else { return finish(.invalidOffset, nil) }
        finish(.success, Data(value.dropFirst(offset)))
    }

    /// Refuses. A second answer has no effect, and the log says so.
    public func reject(_ code: CBATTError.Code) {
        finish(code == .success ? .unlikelyError : code, nil)
    }

    private func finish(_ code: CBATTError.Code, _ value: Data?) {
        if !answer(code, value) { Misuse.report("\(first) has been answered already") }
    }

    private func answer(_ code: CBATTError.Code, _ value: Data?) -> Bool {
        guard let manager = owner.manager else {
            first.abandon()
            return true
        }
        return manager.answer(first, code, value: value)
    }
}

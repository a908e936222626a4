/// A device's reply to a ``USBIPRequest``.
package enum USBIPReply: Hashable, Sendable {
    /// The result of a transfer: zero or a negative Linux errno.
    package enum Status: Int32, Sendable {
        /// The transfer has completed.
        case done = 0
        /// The endpoint does not support the transfer (EPIPE).
        case stalled = -32
        /// The transfer was cancelled before it took place (ECONNRESET).
        case unlinked = -104
    }

    /// The end of a transfer, with the data from the device.
    case submitted(sequence: UInt32, status: Status, length: Int, octets: [UInt8])
    /// The result of a cancellation: `unlinked`, or `done` if the transfer had completed before.
    case unlinked(sequence: UInt32, status: Status)

    /// The encoded reply, starting with its header.
    package var octets: [UInt8] {
        switch self {
        case .submitted(let sequence, let status, let length, let octets):
            Self.header(code: 3, sequence: sequence, status: status, length: length) + octets
        case .unlinked(let sequence, let status):
            Self.header(code: 4, sequence: sequence, status: status, length: 0)
        }
    }

    private static func header(code: UInt32, sequence: UInt32, status: Status, length: Int) -> [UInt8] {
        // Replies leave device, direction, endpoint, frames and packets at 0.
        let words = [
            code, sequence, 0, 0, 0, UInt32(bitPattern: status.rawValue), UInt32(truncatingIfNeeded: length), 0, 0, 0,
            0, 0,
        ]
        return words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }
}

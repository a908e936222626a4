/// What a device says to a ``USBIPRequest``.
package enum USBIPReply: Hashable, Sendable {
    /// Why a transfer came to nothing, as errno of Linux with a minus.
    package enum Status: Int32, Sendable {
        /// It did not.
        case done = 0
        /// The endpoint does not do that (EPIPE).
        case stalled = -32
        /// It was no longer wanted, and has not been made (ECONNRESET).
        case unlinked = -104
    }

    /// The end of a transfer, with what came from the device.
    case submitted(sequence: UInt32, status: Status, length: Int, octets: [UInt8])
    /// What became of a transfer that is no longer wanted: unlinked, or done before.
    case unlinked(sequence: UInt32, status: Status)

    /// The reply as octets.
    package var octets: [UInt8] {
        switch self {
        case .submitted(let sequence, let status, let length, let octets):
            Self.header(code: 3, sequence: sequence, status: status, length: length) + octets
        case .unlinked(let sequence, let status):
            Self.header(code: 4, sequence: sequence, status: status, length: 0)
        }
    }

    private static func header(code: UInt32, sequence: UInt32, status: Status, length: Int) -> [UInt8] {
        // Device, direction and endpoint are nothing in replies; nor are frames and packets.
        let words = [
            code, sequence, 0, 0, 0, UInt32(bitPattern: status.rawValue), UInt32(truncatingIfNeeded: length), 0, 0, 0,
            0, 0,
        ]
        return words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }
}

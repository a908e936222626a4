import BluetoothTypes

/// A USB/IP request from a host to a remote device (Documentation/usb/usbip_protocol.rst of Linux).
package enum USBIPRequest: Hashable, Sendable {
    /// Start a transfer (`USBIP_CMD_SUBMIT`).
    case submit(USBIPSubmission)
    /// Cancel the transfer with the sequence number `transfer`.
    case unlink(sequence: UInt32, transfer: UInt32)
}

/// A request to start a transfer.
package struct USBIPSubmission: Hashable, Sendable {
    /// The sequence number, which is repeated in the reply.
    package var sequence: UInt32
    /// The endpoint number, without the direction.
    package var endpoint: UInt8
    /// Whether the transfer is from the device to the host.
    package var isIn: Bool
    /// The number of octets that the host accepts or sends.
    package var length: Int
    /// The SETUP packet of a transfer on endpoint 0.
    package var setup: USBSetup
    /// The data for the device.
    package var octets: [UInt8]

    package init(sequence: UInt32, endpoint: UInt8, isIn: Bool, length: Int, setup: USBSetup, octets: [UInt8] = []) {
        (self.sequence, self.endpoint, self.isIn) = (sequence, endpoint, isIn)
        (self.length, self.setup, self.octets) = (length, setup, octets)
    }
}

/// A parser for USB/IP requests in a byte stream: a header of 48 octets in big-endian order, followed by the data for
/// the device.
///
/// The stream has no marks for resynchronization. An invalid request therefore ends it: ``failure`` is set, and no more
/// requests are returned.
package struct USBIPParser {
    /// The length of the header, in octets.
    package static let headerLength = 48
    /// The maximum length of a transfer, in octets. HCI packets are no longer, and drivers for controllers use no
    /// longer transfers.
    package static let maximumTransfer = H4Parser.maximumPacketLength

    private enum Code {
        static let submit: UInt32 = 1
        static let unlink: UInt32 = 2
    }

    /// The error for an invalid request, which ended the stream; nil as long as there was none.
    package private(set) var failure: PacketError?
    private var incomplete: [UInt8] = []

    package init() {}

    /// The number of buffered octets of an incomplete request.
    package var pendingLength: Int { incomplete.count }

    /// Parses octets, split at any position, and returns the requests that they complete, in order.
    package mutating func parse(_ octets: [UInt8]) -> [USBIPRequest] {
        guard failure == nil else { return [] }
        incomplete.append(contentsOf: octets)
        var requests: [USBIPRequest] = []
        var rest = incomplete[...]
        do throws(PacketError) {
            while let (request, length) = try Self.first(in: rest) {
                requests.append(request)
                rest = rest.dropFirst(length)
            }
        } catch {
            failure = error
            rest = []
        }
        incomplete = Array(rest)
        return requests
    }

    /// Returns the first request and its length, or nil if it is incomplete.
    private static func first(in octets: ArraySlice<UInt8>) throws(PacketError) -> (USBIPRequest, Int)? {
        guard octets.count >= headerLength else { return nil }
        let header = Array(octets.prefix(headerLength))
        let (code, sequence) = (word(header, 0), word(header, 4))
        switch code {
        case Code.unlink: return (.unlink(sequence: sequence, transfer: word(header, 20)), headerLength)
        case Code.submit: break
        default: throw PacketError(.value(UInt64(code)), at: "USB/IP command")
        }
        let (direction, endpoint, length) = (word(header, 12), word(header, 16), Int(word(header, 24)))
        guard direction <= 1 else { throw PacketError(.value(UInt64(direction)), at: "USB/IP direction") }
        guard endpoint < 16 else { throw PacketError(.value(UInt64(endpoint)), at: "USB/IP endpoint") }
        guard length <= maximumTransfer else { throw PacketError(.length(length), at: "USB/IP transfer") }
        // Only isochronous transfers, which carry voice, have packets. For others the USB/IP document specifies all
        // ones, while the kernel sends 0.
        guard [0, UInt32.max].contains(word(header, 32)), let setup = USBSetup(header[40..<48]) else {
            throw PacketError(.value(UInt64(word(header, 32))), at: "USB/IP number of packets")
        }
        let (isIn, total) = (direction == 1, headerLength + (direction == 1 ? 0 : length))
        guard octets.count >= total else { return nil }
        let submission = USBIPSubmission(
            sequence: sequence,
            endpoint: UInt8(endpoint),
            isIn: isIn,
            length: length,
            setup: setup,
            octets: Array(octets.dropFirst(headerLength).prefix(total - headerLength))
        )
        return (.submit(submission), total)
    }

    private static func word(_ octets: [UInt8], _ index: Int) -> UInt32 {
        octets[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

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

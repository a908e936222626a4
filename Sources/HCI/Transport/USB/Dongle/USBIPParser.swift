import BluetoothTypes

/// What a machine asks of a USB device that is elsewhere (Documentation/usb/usbip_protocol.rst of Linux).
package enum USBIPRequest: Hashable, Sendable {
    /// A transfer is to be made.
    case submit(USBIPSubmission)
    /// A transfer is no longer wanted.
    case unlink(sequence: UInt32, transfer: UInt32)
}

/// A transfer that is to be made.
package struct USBIPSubmission: Hashable, Sendable {
    /// Its number, which the reply has too.
    package var sequence: UInt32
    /// The number of the endpoint, without the direction.
    package var endpoint: UInt8
    /// Whether octets come from the device.
    package var isIn: Bool
    /// Octets that there is room for, or that follow.
    package var length: Int
    /// What begins it on endpoint 0.
    package var setup: USBSetup
    /// What goes to the device.
    package var octets: [UInt8]

    /// A transfer with the given fields.
    package init(sequence: UInt32, endpoint: UInt8, isIn: Bool, length: Int, setup: USBSetup, octets: [UInt8] = []) {
        (self.sequence, self.endpoint, self.isIn) = (sequence, endpoint, isIn)
        (self.length, self.setup, self.octets) = (length, setup, octets)
    }
}

/// Finds requests in a stream of octets: 48 octets each, most significant octet first, and then what goes to the device.
///
/// Nothing marks where a request begins, so one that cannot be ends the stream: ``failure`` is set, and nothing is found any more.
package struct USBIPParser {
    /// Octets of a request without what goes to the device.
    package static let headerLength = 48
    /// The longest transfer. A packet of HCI has no more; nor does a machine ask for more that speaks to a controller.
    package static let maximumTransfer = H4Parser.maximumPacketLength

    private enum Code {
        static let submit: UInt32 = 1
        static let unlink: UInt32 = 2
    }

    /// What no request could be.
    package private(set) var failure: PacketError?
    private var incomplete: [UInt8] = []

    /// A parser at the front of a stream.
    package init() {}

    /// Octets of a request that is not complete yet.
    package var pendingLength: Int { incomplete.count }

    /// Takes octets in whatever pieces they come and returns the requests that they complete, in order.
    package mutating func take(_ octets: [UInt8]) -> [USBIPRequest] {
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

    /// The request at the front and its length; nil while it is incomplete.
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
        // Isochronous transfers, which have packets, would be voice; the document has all ones where there are none, the kernel nothing.
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

/// The SETUP packet of a control transfer (USB 2.0 9.3).
package struct USBSetup: Hashable, Sendable {
    /// The length of a SETUP packet, in octets.
    package static let length = 8

    /// bmRequestType: direction, type and recipient.
    package var requestType: UInt8
    /// bRequest: the request, whose meaning depends on the type.
    package var request: UInt8
    /// wValue: an argument of the request.
    package var value: UInt16
    /// wIndex: an argument of the request, usually the interface or endpoint.
    package var index: UInt16
    /// wLength: the number of octets that follow, or the maximum number in the answer.
    package var size: UInt16

    package init(requestType: UInt8, request: UInt8, value: UInt16 = 0, index: UInt16 = 0, size: UInt16 = 0) {
        (self.requestType, self.request) = (requestType, request)
        (self.value, self.index, self.size) = (value, index, size)
    }

    /// Parses a SETUP packet. Returns nil unless there are exactly eight octets.
    package init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard octets.count == Self.length else { return nil }
        func word(_ index: Int) -> UInt16 { UInt16(octets[index]) | UInt16(octets[index + 1]) << 8 }
        self.init(requestType: octets[0], request: octets[1], value: word(2), index: word(4), size: word(6))
    }

    package var octets: [UInt8] {
        var encoded = [requestType, request]
        for word in [value, index, size] {
            encoded.append(UInt8(truncatingIfNeeded: word))
            encoded.append(UInt8(truncatingIfNeeded: word >> 8))
        }
        return encoded
    }

    /// Returns the SETUP packet for a command of `count` octets. The recipient is the device, which is correct for a
    /// device that is only a Bluetooth controller (Core Vol 4 Part B 2.2).
    package static func command(_ count: Int) -> USBSetup {
        USBSetup(requestType: 0x20, request: 0, size: UInt16(truncatingIfNeeded: count))
    }
}

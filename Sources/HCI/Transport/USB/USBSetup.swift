/// The request that begins a transfer on endpoint 0 (USB 2.0 9.3).
package struct USBSetup: Hashable, Sendable {
    /// Octets of a request.
    package static let length = 8

    /// Direction, type and recipient.
    package var requestType: UInt8
    /// What is asked for.
    package var request: UInt8
    /// What that needs to be known.
    package var value: UInt16
    /// The interface or the endpoint, mostly.
    package var index: UInt16
    /// Octets that follow, or may be answered.
    package var size: UInt16

    /// A request with the given fields.
    package init(requestType: UInt8, request: UInt8, value: UInt16 = 0, index: UInt16 = 0, size: UInt16 = 0) {
        (self.requestType, self.request) = (requestType, request)
        (self.value, self.index, self.size) = (value, index, size)
    }

    /// Reads a request; nil for other than eight octets.
    package init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard octets.count == Self.length else { return nil }
        func word(_ index: Int) -> UInt16 { UInt16(octets[index]) | UInt16(octets[index + 1]) << 8 }
        self.init(requestType: octets[0], request: octets[1], value: word(2), index: word(4), size: word(6))
    }

    /// The request as octets.
    package var octets: [UInt8] {
        [requestType, request] + [value, index, size].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    /// The request that has a command of `count` octets behind it. Its recipient is the device, as long as that is a Bluetooth controller
    /// and nothing else (Core Vol 4 Part B 2.2).
    package static func command(_ count: Int) -> USBSetup {
        USBSetup(requestType: 0x20, request: 0, size: UInt16(truncatingIfNeeded: count))
    }
}

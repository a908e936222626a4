/// Finds the refusal of a read in an air capture, which the app never sees because the system pairs and repeats the
/// request (behaviour 6.1).
package enum Refusal {
    /// The offset of the PDU in the block of a packet: after the header of the block, the pseudo-header, the access
    /// address and the link layer header.
    private static let start = 28 + 10 + 4 + 2
    /// The length of the frame with its pseudo-header, whose lowest octet is at this offset of the block.
    private static let length = UInt8(10 + 4 + 2 + response.count + 3 + 3)
    private static let lengthOffset = 20
    /// The L2CAP header, and an Error Response to a Read Request (Core Vol 3 Part F 3.4.1.1). A handle follows.
    private static let response: [UInt8] = [5, 0, 4, 0, 0x01, 0x0A]
    private static let insufficientAuthentication: UInt8 = 5

    /// Whether a record of an air capture is such a refusal.
    package static func isAt(_ record: [UInt8]) -> Bool {
        // The handle, the error code and the CRC follow.
        record.count >= start + response.count + 3 + 3 && record[lengthOffset] == length
            && record[start...].starts(with: response)
            && record[start + response.count + 2] == insufficientAuthentication
    }
}

/// Finds the refusal of a read in an air capture, which the app never sees because the system pairs and repeats the
/// request (behaviour 6.1).
package enum Refusal {
    /// The offset of the PDU in a capture record: after the record header, the pseudo-header, the access address and
    /// the link layer header.
    private static let start = 16 + 10 + 4 + 2
    /// The L2CAP header, and an Error Response to a Read Request (Core Vol 3 Part F 3.4.1.1). A handle follows.
    private static let response: [UInt8] = [5, 0, 4, 0, 0x01, 0x0A]
    private static let insufficientAuthentication: UInt8 = 5

    /// Whether a record of an air capture is such a refusal.
    package static func isAt(_ record: [UInt8]) -> Bool {
        record.count == start + response.count + 3 + 3 && record[start...].starts(with: response)
            && record[start + response.count + 2] == insufficientAuthentication
    }
}

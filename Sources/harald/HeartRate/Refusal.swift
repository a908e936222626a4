/// What an app is never told, since the system pairs and asks again (behaviour 6.1): that its read was refused.
enum Refusal {
    /// What stands before the PDU in a record of an air capture: the record's header, the pseudo-header, the access address
    /// and the header of the link layer.
    private static let start = 16 + 10 + 4 + 2
    /// Error Response to a Read Request, with L2CAP's header (Core Vol 3 Part F 3.4.1.1); a handle follows.
    private static let response: [UInt8] = [5, 0, 4, 0, 0x01, 0x0A]
    private static let insufficientAuthentication: UInt8 = 5

    /// Whether a record of an air capture is one.
    static func isAt(_ record: [UInt8]) -> Bool {
        record.count == start + response.count + 3 + 3 && record[start...].starts(with: response)
            && record[start + response.count + 2] == insufficientAuthentication
    }
}

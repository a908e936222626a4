import BluetoothTypes

/// The header of a data channel PDU, two octets (Core Vol 6 Part B 2.4).
struct DataHeader: PacketFields, Hashable {
    /// LLID: the kind of payload.
    enum Content: UInt8 {
        /// Reserved; such a PDU is ignored (AB-L01).
        case reserved = 0b00
        /// A continuation of L2CAP data, or an empty PDU.
        case continuation = 0b01
        /// The start of L2CAP data.
        case start = 0b10
        case control = 0b11
    }

    /// The length of the header, in octets.
    static let size = 2

    private var flags: UInt8 = 0
    /// The length of the payload, in octets.
    var length: UInt8 = 0

    init() {}

    init(_ content: Content, nextExpected: Bool, sequence: Bool, moreData: Bool, length: UInt8) {
        flags = content.rawValue
        self.length = length
        self.nextExpected = nextExpected
        self.sequence = sequence
        self.moreData = moreData
    }

    /// The first octet without NESN, SN and MD: the authenticated part of the header (Core Vol 6 Part E 2.3).
    var authenticated: UInt8 { flags & 0b1110_0011 }

    /// LLID: the content of the PDU.
    var content: Content { Content(rawValue: flags & 0b11) ?? .reserved }

    /// NESN: the expected SN of the peer's next PDU.
    var nextExpected: Bool {
        get { flags >> 2 & 1 == 1 }
        set { set(2, newValue) }
    }

    /// SN: the sequence number of this PDU.
    var sequence: Bool {
        get { flags >> 3 & 1 == 1 }
        set { set(3, newValue) }
    }

    /// MD: the sender has more to send in this connection event.
    var moreData: Bool {
        get { flags >> 4 & 1 == 1 }
        set { set(4, newValue) }
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Header", &flags)
        try coder.field("Length", &length)
    }

    /// Parses a data PDU of the radio; nil if it is malformed (AB-L02).
    ///
    /// - Parameters:
    ///   - pdu: The octets on the air.
    ///   - data: The maximum length of a data payload.
    ///   - control: The maximum length of a control payload.
    static func parse(_ pdu: [UInt8], data: Int, control: Int) -> (DataHeader, PacketBuffer)? {
        var reader = FieldReader(PacketBuffer(pdu))
        var header = DataHeader()
        guard (try? header.code(&reader)) != nil else { return nil }
        guard Int(header.length) == reader.remaining,
            Int(header.length) <= (header.content == .control ? control : data)
        else { return nil }
        return (header, reader.bytes.rest())
    }

    func pdu(_ payload: PacketBuffer) -> PacketBuffer {
        var pdu = PacketBuffer(headroom: 0, capacity: Self.size + payload.count)
        write(to: &pdu)
        pdu.append(contentsOf: payload)
        return pdu
    }

    private mutating func set(_ bit: UInt8, _ value: Bool) {
        flags = flags & ~(1 << bit) | (value ? 1 << bit : 0)
    }
}

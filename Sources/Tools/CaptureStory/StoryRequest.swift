import ATT
import BluetoothTypes

/// A request of the attribute protocol, which is kept until its response arrives.
struct StoryRequest: Sendable {
    /// The opcode and the handle.
    private static let headerSize = 3

    let opcode: ATTOpcode
    /// The time at which it was sent; nil if that is not known.
    let time: Int64?
    /// The packet that it arrived in, and the time of that.
    let moment: StoryMoment
    /// The two octets after the opcode.
    let handle: UInt16?
    /// The octet after the opcode.
    let flags: UInt8?
    /// The octets after the handle, in storage of their own. Most requests have none, and cost no allocation.
    let rest: PacketBuffer
    /// The length of the PDU.
    let count: Int
    /// The first octet of a PDU that the peer has sent since, and that cannot be read.
    var stray: UInt8?
    /// Whether the request belongs to the discovery of a table.
    let isDiscovery: Bool

    init(_ pdu: PacketBuffer, _ opcode: ATTOpcode, at time: Int64?, _ moment: StoryMoment) {
        (self.opcode, self.time, self.moment, count) = (opcode, time, moment, pdu.count)
        (handle, flags) = (pdu.word(at: 1), pdu.octet(at: 1))
        let hasMore = pdu.count > Self.headerSize
        rest = hasMore ? PacketBuffer(copying: pdu.suffix(after: Self.headerSize), headroom: 0) : []
        isDiscovery =
            switch opcode {
            case .readRequest: false
            case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest: true
            default: false
            }
    }

    /// Whether both ask for the same, whatever the value that is written.
    func matches(_ other: StoryRequest) -> Bool { opcode == other.opcode && handle == other.handle }

    /// Whether the response with an error code is a part of the procedure: the end of a discovery (Core Vol 3 Part G
    /// 4.4.1), or of a long read (4.8.3), and what a client does in another way if the server cannot.
    func expects(_ code: ATTErrorCode) -> Bool {
        switch code {
        case .attributeNotFound, .unsupportedGroupType: isDiscovery
        case .invalidOffset, .attributeNotLong: opcode == .readBlobRequest
        case .requestNotSupported:
            opcode == .exchangeMTURequest || opcode == .readMultipleRequest || opcode == .readMultipleVariableRequest
        case .databaseOutOfSync: true
        default: false
        }
    }

    /// Whether the words of the request are part of the story when it succeeds.
    var isShown: Bool {
        guard isDiscovery else { return opcode != .exchangeMTURequest }
        return opcode == .readByTypeRequest && type != AttributeBook.characteristic
    }

    /// The type that Read By Type asks for.
    var type: BluetoothUUID? {
        opcode == .readByTypeRequest ? BluetoothUUID(littleEndian: rest.suffix(after: 2)) : nil
    }
}

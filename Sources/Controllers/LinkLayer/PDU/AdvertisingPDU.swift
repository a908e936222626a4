import BluetoothTypes

/// A PDU on the advertising channels (Core Vol 6 Part B 2.3). On the secondary channels SCAN_REQ and CONNECT_IND are
/// named AUX_SCAN_REQ and AUX_CONNECT_REQ.
enum AdvertisingPDU: Hashable {
    /// ADV_IND: connectable and scannable.
    case connectableScannable(UndirectedAdvertisement)
    /// ADV_DIRECT_IND: connectable, for one device.
    case directed(DirectedAdvertisement)
    /// ADV_NONCONN_IND: neither connectable nor scannable.
    case nonConnectable(UndirectedAdvertisement)
    /// SCAN_REQ.
    case scanRequest(ScanRequestPayload)
    /// SCAN_RSP.
    case scanResponse(UndirectedAdvertisement)
    /// CONNECT_IND.
    case connect(ConnectIndication)
    /// ADV_SCAN_IND: scannable, not connectable.
    case scannable(UndirectedAdvertisement)
    /// ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP or AUX_CHAIN_IND.
    case extended(ExtendedAdvertisement)
    /// AUX_CONNECT_RSP.
    case connectResponse(ExtendedAdvertisement)

    /// The initial value of the CRC on advertising channels (3.1.1).
    static let crcInit: UInt32 = 0x55_5555

    /// Parses a PDU received from the radio.
    ///
    /// - Throws: ``PacketError`` if the PDU is malformed, or if its length differs from that in the header (AB-L02).
    init(reading bytes: PacketBuffer) throws(PacketError) {
        var reader = FieldReader(bytes)
        var header = AdvertisingHeader()
        try header.code(&reader)
        guard reader.remaining == Int(header.length) else {
            throw PacketError(.length(Int(header.length)), at: "Length")
        }
        let payload = reader.bytes.rest()
        switch header.kind {
        case .advInd: self = .connectableScannable(try .init(reading: payload, header))
        case .advDirectInd: self = .directed(try .init(reading: payload, header))
        case .advNonconnInd: self = .nonConnectable(try .init(reading: payload, header))
        case .scanReq: self = .scanRequest(try .init(reading: payload, header))
        case .scanRsp: self = .scanResponse(try .init(reading: payload, header))
        case .connectInd: self = .connect(try .init(reading: payload, header))
        case .advScanInd: self = .scannable(try .init(reading: payload, header))
        case .advExtInd: self = .extended(try .init(reading: payload, header))
        case .auxConnectRsp: self = .connectResponse(try .init(reading: payload, header))
        default: throw PacketError(.value(UInt64(header.kind.rawValue)), at: "PDU Type")
        }
    }

    /// Returns the PDU including its header.
    func encoded() -> [UInt8] {
        switch self {
        case .connectableScannable(let pdu): encode(.advInd, pdu)
        case .directed(let pdu): encode(.advDirectInd, pdu)
        case .nonConnectable(let pdu): encode(.advNonconnInd, pdu)
        case .scanRequest(let pdu): encode(.scanReq, pdu)
        case .scanResponse(let pdu): encode(.scanRsp, pdu)
        case .connect(let pdu): encode(.connectInd, pdu)
        case .scannable(let pdu): encode(.advScanInd, pdu)
        case .extended(let pdu): encode(.advExtInd, pdu)
        case .connectResponse(let pdu): encode(.auxConnectRsp, pdu)
        }
    }

    private func encode<P: AdvertisingPayload>(_ kind: AdvertisingHeader.Kind, _ payload: P) -> [UInt8] {
        var buffer = PacketBuffer(headroom: 0, capacity: 2 + 37)
        var header = payload.header
        header.kind = kind
        header.length = 0
        header.write(to: &buffer)
        payload.write(to: &buffer)
        buffer[1] = UInt8(truncatingIfNeeded: buffer.count - 2)
        return buffer.bytes
    }
}

/// The header of an advertising channel PDU, two octets (2.3).
struct AdvertisingHeader: PacketFields, Hashable {
    /// The PDU type, in the four low bits.
    struct Kind: WireValue {
        var rawValue: UInt8

        static let advInd = Kind(rawValue: 0b0000)
        static let advDirectInd = Kind(rawValue: 0b0001)
        static let advNonconnInd = Kind(rawValue: 0b0010)
        static let scanReq = Kind(rawValue: 0b0011)
        static let scanRsp = Kind(rawValue: 0b0100)
        static let connectInd = Kind(rawValue: 0b0101)
        static let advScanInd = Kind(rawValue: 0b0110)
        static let advExtInd = Kind(rawValue: 0b0111)
        static let auxConnectRsp = Kind(rawValue: 0b1000)
    }

    private var flags: UInt8 = 0
    /// The length of the payload, in octets.
    var length: UInt8 = 0

    var kind: Kind {
        get { Kind(rawValue: flags & 0x0F) }
        set { flags = flags & 0xF0 | newValue.rawValue & 0x0F }
    }

    /// ChSel: whether the sender supports channel selection algorithm #2.
    var knowsAlgorithm2: Bool {
        get { flags >> 5 & 1 == 1 }
        set { set(5, newValue) }
    }

    /// TxAdd: whether the sender's address is random.
    var isSenderRandom: Bool {
        get { flags >> 6 & 1 == 1 }
        set { set(6, newValue) }
    }

    /// RxAdd: whether the receiver's address is random.
    var isReceiverRandom: Bool {
        get { flags >> 7 & 1 == 1 }
        set { set(7, newValue) }
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Header", &flags)
        try coder.field("Length", &length)
    }

    private mutating func set(_ bit: UInt8, _ value: Bool) {
        flags = flags & ~(1 << bit) | (value ? 1 << bit : 0)
    }
}

/// A payload with some of its bits in the header.
protocol AdvertisingPayload: PacketFields {
    /// The header with the bits of this payload.
    var header: AdvertisingHeader { get }
    /// Sets the bits of this payload from a received header.
    mutating func apply(_ header: AdvertisingHeader)
}

extension AdvertisingPayload {
    init(reading payload: PacketBuffer, _ header: AdvertisingHeader) throws(PacketError) {
        try self.init(reading: payload)
        apply(header)
    }
}

extension BluetoothAddress.Kind {
    /// Creates the address kind that a header bit indicates.
    init(isRandom: Bool) { self = isRandom ? .randomDevice : .publicDevice }
}

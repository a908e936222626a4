import BluetoothTypes
import EventLoops

/// The kind of a captured frame, for the properties that the frame alone does not reveal.
enum AirFrameKind: Hashable {
    /// A PDU on a primary advertising channel, or of a connection whose start was not captured.
    case unspecified
    /// AUX_ADV_IND, AUX_SCAN_REQ, AUX_CONNECT_REQ or AUX_CONNECT_RSP.
    case auxiliary
    /// AUX_CHAIN_IND.
    case chain
    /// AUX_SYNC_IND, AUX_SYNC_SUBEVENT_IND or AUX_SYNC_SUBEVENT_RSP.
    case sync
    /// AUX_SCAN_RSP.
    case scanResponse
    /// A data channel PDU from the central.
    case fromCentral
    /// A data channel PDU from the peripheral.
    case fromPeripheral

    /// The kind as flags of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: bits 7 to 9 for the kind, 12 and 13 to distinguish
    /// auxiliary advertising PDUs of the same type.
    var flags: UInt16 {
        switch self {
        case .unspecified: 0
        case .auxiliary: 1 << 7
        case .chain: 1 << 7 | 1 << 12
        case .sync: 1 << 7 | 2 << 12
        case .scanResponse: 1 << 7 | 3 << 12
        case .fromCentral: 2 << 7
        case .fromPeripheral: 3 << 7
        }
    }
}

/// Classifies captured frames by tracking connections from their CONNECT_IND and extended advertising from PDU to PDU.
struct AirDirectory {
    /// The maximum number of tracked connections, and of advertisers with a chain; beyond it the oldest is dropped.
    static let maximum = 1_024

    /// The central of each connection, by access address.
    private var centrals = Bounded<UInt32, RadioNode.ID>(maximum)
    /// The channel of the next PDU in an advertiser's chain.
    private var chains = Bounded<RadioNode.ID, UInt8>(maximum)
    /// The periodic advertising trains by access address, with the channel of the next PDU in the chain.
    private var trains = Bounded<UInt32, UInt8>(maximum)
    /// When the last AUX_SCAN_REQ on a channel ended.
    private var scanRequests: [UInt8: Instant] = [:]

    /// Classifies a frame. Call it with frames in the order in which they started.
    mutating func classify(_ sniffed: SniffedFrame) -> AirFrameKind {
        let frame = sniffed.frame
        guard frame.accessAddress == AccessAddress.advertising else {
            if let next = trains[frame.accessAddress] { return periodic(sniffed, next) }
            guard let central = centrals[frame.accessAddress] else { return .unspecified }
            return central == sniffed.sender ? .fromCentral : .fromPeripheral
        }
        let kind = AdvertisingHeader.Kind(rawValue: (frame.pdu.first ?? 0) & 0x0F)
        if kind == .connectInd { follow(frame, from: sniffed.sender) }
        guard frame.channel < 37 else { return .unspecified }
        switch kind {
        case .scanReq:
            scanRequests[frame.channel] = sniffed.start.advanced(byMicroseconds: frame.airTimeMicroseconds)
            return .auxiliary
        case Self.extended:
            return extended(sniffed)
        default:
            return .auxiliary
        }
    }

    /// The PDU type that ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP and AUX_CHAIN_IND share (Core Vol 6 Part B 2.3).
    private static let extended = AdvertisingHeader.Kind(rawValue: 0b0111)

    private mutating func follow(_ frame: RadioFrame, from sender: RadioNode.ID) {
        let payload = PacketBuffer(frame.pdu).suffix(after: DataHeader.size)
        guard let request = try? ConnectIndication(reading: payload) else { return }
        centrals[request.link.accessAddress] = sender
    }

    private mutating func extended(_ sniffed: SniffedFrame) -> AirFrameKind {
        let channel = sniffed.frame.channel
        let isExpected = chains[sniffed.sender] == channel
        chains[sniffed.sender] = Self.nextChannel(sniffed.frame.pdu)
        learnTrain(sniffed.frame.pdu)
        let asked = scanRequests[channel].map { sniffed.start - $0 }
        if let asked, asked >= .zero, asked <= .microseconds(LinkTiming.interFrameSpace + 4) { return .scanResponse }
        return isExpected ? .chain : .auxiliary
    }

    /// Stands for no further PDU in a train's chain.
    private static let noChannel: UInt8 = 0xFF

    /// Tracks the train announced by a SyncInfo field, which contains its access address.
    private mutating func learnTrain(_ pdu: [UInt8]) {
        guard pdu.count > 3, pdu[2] & 0x3F > 0, pdu[3] & 0x20 != 0,
            case .extended(let body)? = try? AdvertisingPDU(reading: PacketBuffer(pdu)), let sync = body.extended.sync
        else { return }
        if trains[sync.accessAddress] == nil { trains[sync.accessAddress] = Self.noChannel }
        // Responses use a separate access address.
        guard let responses = try? ResponseTiming.find(in: body.extended.controllerData) else { return }
        if trains[responses.accessAddress] == nil { trains[responses.accessAddress] = Self.noChannel }
    }

    private mutating func periodic(_ sniffed: SniffedFrame, _ next: UInt8) -> AirFrameKind {
        let frame = sniffed.frame
        switch AdvertisingHeader.Kind(rawValue: (frame.pdu.first ?? 0) & 0x0F) {
        // A connection request in a subevent.
        case .connectInd:
            follow(frame, from: sniffed.sender)
            return .auxiliary
        case .auxConnectRsp: return .auxiliary
        default: break
        }
        trains[frame.accessAddress] = Self.nextChannel(frame.pdu) ?? Self.noChannel
        return next == frame.channel ? .chain : .sync
    }

    /// Returns the channel in AuxPtr; nil if the PDU has none (2.3.4.5).
    private static func nextChannel(_ pdu: [UInt8]) -> UInt8? {
        // AuxPtr follows the header, the length and the flags of the extended header, and optionally AdvA, TargetA,
        // CTEInfo and ADI.
        guard pdu.count > 3, pdu[2] & 0x3F > 0, pdu[3] & 0x10 != 0 else { return nil }
        let sizes = [6, 6, 1, 2]
        let offset = sizes.indices.reduce(4) { $0 + (pdu[3] >> $1 & 1 == 1 ? sizes[$1] : 0) }
        return offset < pdu.count ? pdu[offset] & 0x3F : nil
    }
}

/// The names that devices advertise, learned from captured frames.
package struct AdvertisedNames: Sendable {
    /// The number of senders whose names are remembered; beyond it the oldest is dropped.
    static let maximum = 1_024

    private var names = Bounded<RadioNode.ID, String>(maximum)

    package init() {}

    /// The last name that a sender advertised.
    package subscript(sender: RadioNode.ID) -> String? { names[sender] }

    /// Learns the sender's name from a frame, if the frame has one that was received intact.
    package mutating func learn(from sniffed: SniffedFrame) {
        guard sniffed.frame.accessAddress == AccessAddress.advertising, !sniffed.isCorrupted,
            let pdu = try? AdvertisingPDU(reading: PacketBuffer(sniffed.frame.pdu)), let data = Self.data(of: pdu),
            let name = AdvertisingData(parsing: data).localName?.text, !name.isEmpty, names[sniffed.sender] != name
        else { return }
        names[sniffed.sender] = name
    }

    private static func data(of pdu: AdvertisingPDU) -> PacketBuffer? {
        switch pdu {
        case .connectableScannable(let body), .nonConnectable(let body), .scannable(let body), .scanResponse(let body):
            body.data
        case .extended(let body): body.data
        case .directed, .scanRequest, .connect, .connectResponse: nil
        }
    }
}

/// A dictionary that evicts its oldest entry when full.
struct Bounded<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let maximum: Int
    private var values: [Key: Value] = [:]
    private var order: [Key] = []

    init(_ maximum: Int) {
        self.maximum = maximum
    }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if let newValue {
                if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
                if order.count > maximum { values[order.removeFirst()] = nil }
            } else if values.removeValue(forKey: key) != nil {
                order.removeAll { $0 == key }
            }
        }
    }
}

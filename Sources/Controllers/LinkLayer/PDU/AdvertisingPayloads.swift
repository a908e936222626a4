import BluetoothTypes

/// The payload of ADV_IND, ADV_NONCONN_IND, ADV_SCAN_IND (Core Vol 6 Part B 2.3.1) and SCAN_RSP (2.3.2.2).
struct UndirectedAdvertisement: AdvertisingPayload, Hashable {
    /// The maximum length of the data, in octets.
    static let maximumData = 31

    /// AdvA, of the kind in TxAdd.
    var advertiser = BluetoothAddress.none
    /// AdvData or ScanRspData, at most ``maximumData`` octets.
    var data: PacketBuffer = []
    /// Whether the advertiser supports channel selection algorithm #2; only ADV_IND indicates it.
    var knowsAlgorithm2 = false

    var header: AdvertisingHeader {
        var header = AdvertisingHeader()
        header.isSenderRandom = advertiser.kind.isRandom
        header.knowsAlgorithm2 = knowsAlgorithm2
        return header
    }

    mutating func apply(_ header: AdvertisingHeader) {
        advertiser.kind = .init(isRandom: header.isSenderRandom)
        knowsAlgorithm2 = header.knowsAlgorithm2
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("AdvA", &advertiser)
        try coder.rest("Data", &data)
        if coder.isReading, data.count > Self.maximumData { throw PacketError(.length(data.count), at: "Data") }
    }
}

/// The payload of ADV_DIRECT_IND (2.3.1.2).
struct DirectedAdvertisement: AdvertisingPayload, Hashable {
    /// AdvA, of the kind in TxAdd.
    var advertiser = BluetoothAddress.none
    /// TargetA, of the kind in RxAdd.
    var target = BluetoothAddress.none
    /// Whether the advertiser supports channel selection algorithm #2.
    var knowsAlgorithm2 = false

    var header: AdvertisingHeader {
        var header = AdvertisingHeader()
        header.isSenderRandom = advertiser.kind.isRandom
        header.isReceiverRandom = target.kind.isRandom
        header.knowsAlgorithm2 = knowsAlgorithm2
        return header
    }

    mutating func apply(_ header: AdvertisingHeader) {
        advertiser.kind = .init(isRandom: header.isSenderRandom)
        target.kind = .init(isRandom: header.isReceiverRandom)
        knowsAlgorithm2 = header.knowsAlgorithm2
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("AdvA", &advertiser)
        try coder.address("TargetA", &target)
    }
}

/// The payload of SCAN_REQ (2.3.2.1).
struct ScanRequestPayload: AdvertisingPayload, Hashable {
    /// ScanA, of the kind in TxAdd.
    var scanner = BluetoothAddress.none
    /// AdvA, of the kind in RxAdd.
    var advertiser = BluetoothAddress.none

    var header: AdvertisingHeader {
        var header = AdvertisingHeader()
        header.isSenderRandom = scanner.kind.isRandom
        header.isReceiverRandom = advertiser.kind.isRandom
        return header
    }

    mutating func apply(_ header: AdvertisingHeader) {
        scanner.kind = .init(isRandom: header.isSenderRandom)
        advertiser.kind = .init(isRandom: header.isReceiverRandom)
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("ScanA", &scanner)
        try coder.address("AdvA", &advertiser)
    }
}

/// The payload of CONNECT_IND (2.3.3.1).
struct ConnectIndication: AdvertisingPayload, Hashable {
    /// InitA, of the kind in TxAdd.
    var initiator = BluetoothAddress.none
    /// AdvA, of the kind in RxAdd.
    var advertiser = BluetoothAddress.none
    /// The LLData field: the parameters of the connection.
    var link = ConnectionData()
    /// Whether the initiator supports channel selection algorithm #2.
    var knowsAlgorithm2 = false

    var header: AdvertisingHeader {
        var header = AdvertisingHeader()
        header.isSenderRandom = initiator.kind.isRandom
        header.isReceiverRandom = advertiser.kind.isRandom
        header.knowsAlgorithm2 = knowsAlgorithm2
        return header
    }

    mutating func apply(_ header: AdvertisingHeader) {
        initiator.kind = .init(isRandom: header.isSenderRandom)
        advertiser.kind = .init(isRandom: header.isReceiverRandom)
        knowsAlgorithm2 = header.knowsAlgorithm2
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("InitA", &initiator)
        try coder.address("AdvA", &advertiser)
        try coder.field("LLData", &link)
    }
}

/// LLData of CONNECT_IND: the parameters on which both devices have to agree (2.3.3.1).
struct ConnectionData: PacketFields, Hashable {
    /// AA: the access address of the connection.
    var accessAddress: UInt32 = 0
    /// The initial value of the CRC, 24 bits.
    var crcInit: UInt32 = 0
    /// The size of the transmit window, in units of 1.25 ms.
    var windowSize: UInt8 = 0
    /// The offset of the transmit window, in units of 1.25 ms.
    var windowOffset: UInt16 = 0
    /// The connection interval, in units of 1.25 ms.
    var interval: UInt16 = 0
    /// The peripheral latency: the number of connection events that the peripheral may skip.
    var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16 = 0
    /// ChM: the data channels in use.
    var channelMap = ChannelMap.all
    private var hopAndAccuracy: UInt8 = 0

    /// The hop increment, 5 to 16.
    var hop: UInt8 {
        get { hopAndAccuracy & 0x1F }
        set { hopAndAccuracy = hopAndAccuracy & 0xE0 | newValue & 0x1F }
    }

    /// The central's sleep clock accuracy: 0 for 500 ppm to 7 for 20 ppm.
    var clockAccuracy: UInt8 {
        get { hopAndAccuracy >> 5 }
        set { hopAndAccuracy = hopAndAccuracy & 0x1F | newValue << 5 }
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("AA", &accessAddress)
        try coder.uint24("CRCInit", &crcInit)
        try coder.field("WinSize", &windowSize)
        try coder.field("WinOffset", &windowOffset)
        try coder.field("Interval", &interval)
        try coder.field("Latency", &latency)
        try coder.field("Timeout", &timeout)
        try coder.field("ChM", &channelMap)
        try coder.field("Hop and SCA", &hopAndAccuracy)
    }
}

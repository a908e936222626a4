import BluetoothTypes

/// The common extended advertising payload (Core Vol 6 Part B 2.3.4) of ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP,
/// AUX_CHAIN_IND and AUX_CONNECT_RSP. Which of them it is depends on where it was received.
struct ExtendedAdvertisement: AdvertisingPayload, Hashable {
    /// AdvMode: whether the advertisement is connectable or scannable.
    enum Mode: UInt8 {
        case nonConnectable = 0
        case connectable = 1
        case scannable = 2
        case reserved = 3
    }

    /// The maximum length of the payload, in octets.
    static let maximumPayload = 255
    /// The maximum length of the advertising data in all PDUs of an advertisement together, in octets (2.3.4.9).
    static let maximumData = 1_650
    /// The maximum length of the extended header, in octets.
    static let maximumHeader = 63

    /// AdvMode: connectable, scannable or neither.
    var mode = Mode.nonConnectable
    /// The extended header; empty if the PDU has none.
    var extended = ExtendedHeader()
    /// AdvData, or a fragment of it.
    var data: PacketBuffer = []

    var header: AdvertisingHeader {
        var header = AdvertisingHeader()
        header.isSenderRandom = extended.advertiser?.kind.isRandom ?? false
        header.isReceiverRandom = extended.target?.kind.isRandom ?? false
        return header
    }

    mutating func apply(_ header: AdvertisingHeader) {
        extended.advertiser?.kind = .init(isRandom: header.isSenderRandom)
        extended.target?.kind = .init(isRandom: header.isReceiverRandom)
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var octets: PacketBuffer = extended.isEmpty ? [] : extended.encoded()
        var lengthAndMode = UInt8(truncatingIfNeeded: octets.count) & 0x3F | mode.rawValue << 6
        try coder.field("Extended Header Length and AdvMode", &lengthAndMode)
        mode = Mode(rawValue: lengthAndMode >> 6) ?? .reserved
        try coder.bytes("Extended Header", &octets, count: Int(lengthAndMode & 0x3F))
        if coder.isReading { extended = octets.isEmpty ? .init() : try .init(reading: octets) }
        try coder.rest("AdvData", &data)
    }
}

/// The extended header (2.3.4): flags for the fields present, followed by these fields.
struct ExtendedHeader: PacketFields, Hashable {
    private struct Flags: OptionSet {
        var rawValue: UInt8

        static let advertiser = Flags(rawValue: 1 << 0)
        static let target = Flags(rawValue: 1 << 1)
        static let constantTone = Flags(rawValue: 1 << 2)
        static let info = Flags(rawValue: 1 << 3)
        static let pointer = Flags(rawValue: 1 << 4)
        static let sync = Flags(rawValue: 1 << 5)
        static let txPower = Flags(rawValue: 1 << 6)
    }

    /// AdvA; nil if the header lacks it.
    var advertiser: BluetoothAddress?
    /// TargetA; nil if the header lacks it.
    var target: BluetoothAddress?
    /// CTEInfo, unparsed; nil if the header lacks it.
    var constantTone: UInt8?
    /// ADI; nil if the header lacks it.
    var info: AdvertisingDataInfo?
    /// AuxPtr; nil if the header lacks it.
    var pointer: AuxiliaryPointer?
    /// SyncInfo; nil if the header lacks it.
    var sync: SyncInfo?
    /// TxPower, in dBm; nil if the header lacks it.
    var txPower: Int8?
    /// ACAD: data for the peer's controller.
    var controllerData: PacketBuffer = []

    /// Whether no field is present.
    var isEmpty: Bool { flags.isEmpty && controllerData.isEmpty }

    /// The encoded length including the flags, in octets; 0 if the header is empty.
    var size: Int { isEmpty ? 0 : encoded().count }

    private var flags: Flags {
        var flags: Flags = []
        if advertiser != nil { flags.insert(.advertiser) }
        if target != nil { flags.insert(.target) }
        if constantTone != nil { flags.insert(.constantTone) }
        if info != nil { flags.insert(.info) }
        if pointer != nil { flags.insert(.pointer) }
        if sync != nil { flags.insert(.sync) }
        if txPower != nil { flags.insert(.txPower) }
        return flags
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        // A reserved flag is ignored: its field, if any, follows the known ones.
        var raw = flags.rawValue
        try coder.field("Extended Header Flags", &raw)
        let flags = Flags(rawValue: raw)
        try address("AdvA", &advertiser, flags.contains(.advertiser), &coder)
        try address("TargetA", &target, flags.contains(.target), &coder)
        try number("CTEInfo", &constantTone, flags.contains(.constantTone), &coder)
        try fields("ADI", &info, flags.contains(.info), &coder)
        try fields("AuxPtr", &pointer, flags.contains(.pointer), &coder)
        try fields("SyncInfo", &sync, flags.contains(.sync), &coder)
        try number("TxPower", &txPower, flags.contains(.txPower), &coder)
        try coder.rest("ACAD", &controllerData)
    }

    private func address<C: FieldCoder>(
        _ name: String,
        _ value: inout BluetoothAddress?,
        _ isPresent: Bool,
        _ coder: inout C
    ) throws(PacketError) {
        guard isPresent else { return }
        var present = value ?? .none
        try coder.address(name, &present)
        value = present
    }

    private func number<T: FixedWidthInteger, C: FieldCoder>(
        _ name: String,
        _ value: inout T?,
        _ isPresent: Bool,
        _ coder: inout C
    ) throws(PacketError) {
        guard isPresent else { return }
        var present = value ?? 0
        try coder.field(name, &present)
        value = present
    }

    private func fields<T: PacketFields, C: FieldCoder>(
        _ name: String,
        _ value: inout T?,
        _ isPresent: Bool,
        _ coder: inout C
    ) throws(PacketError) {
        guard isPresent else { return }
        var present = value ?? T()
        try coder.field(name, &present)
        value = present
    }
}

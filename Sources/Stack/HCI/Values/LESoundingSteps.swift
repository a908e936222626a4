import BluetoothTypes

/// The result of one step, as it is reported (Core Vol 4 Part E 7.7.65.44).
package struct LESoundingStep: PacketFields, Hashable, Sendable {
    /// The highest channel.
    package static let maximumChannel: UInt8 = 78

    package var mode: UInt8 = 0
    /// The channel, 0 to 78; its frequency is 2,402 MHz plus the number in MHz.
    package var channel: UInt8 = 0
    package var data: PacketBuffer = []

    package init() {}
    package init(mode: UInt8, channel: UInt8, data: PacketBuffer) {
        (self.mode, self.channel, self.data) = (mode, channel, data)
    }

    /// The number of octets in an event.
    package var octets: Int { 3 + data.count }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Step_Mode", &mode)
        try coder.field("Step_Channel", &channel)
        try coder.countedBytes("Step_Data", &data)
    }
}

/// The data of a mode 0 step, for synchronization and calibration.
package struct LESoundingMode0: PacketFields, Hashable, Sendable {
    /// The quality of the access address: 0 without errors.
    package var quality: UInt8 = 0
    /// The RSSI in dBm.
    package var rssi: Int8 = 0
    package var antenna: UInt8 = 0
    /// The offset of the peer's frequency, in units of 0.01 ppm; only the initiator reports it.
    package var frequencyOffset: UInt16?

    package init() {}
    package init(rssi: Int8, antenna: UInt8, frequencyOffset: UInt16?) {
        (self.rssi, self.antenna, self.frequencyOffset) = (rssi, antenna, frequencyOffset)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Packet_Quality", &quality)
        try coder.field("Packet_RSSI", &rssi)
        try coder.field("Packet_Antenna", &antenna)
        guard coder.isReading ? coder.remaining > 0 : frequencyOffset != nil else { return }
        var offset = frequencyOffset ?? 0
        try coder.field("Measured_Freq_Offset", &offset)
        frequencyOffset = offset
    }
}

/// The data of a mode 1 step: a round-trip time.
package struct LESoundingMode1: PacketFields, Hashable, Sendable {
    /// The value of ``time`` if there is none.
    package static let noTime = Int16.min

    /// The quality of the access address: 0 without errors.
    package var quality: UInt8 = 0
    /// The likelihood of an attack: 0 for extremely unlikely, 0xFF for unknown.
    package var attackLikelihood: UInt8 = 0xFF
    /// The RSSI in dBm.
    package var rssi: Int8 = 0
    /// At the initiator the time from its departure to the arrival of the answer, at the reflector the time from the
    /// arrival to the departure of its answer. Both in units of 0.5 ns and without the nominal time between the two.
    package var time: Int16 = 0
    package var antenna: UInt8 = 0

    package init() {}
    package init(rssi: Int8, time: Int16, antenna: UInt8) {
        (self.rssi, self.time, self.antenna) = (rssi, time, antenna)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Packet_Quality", &quality)
        try coder.field("Packet_NADM", &attackLikelihood)
        try coder.field("Packet_RSSI", &rssi)
        try coder.field("ToA_ToD", &time)
        try coder.field("Packet_Antenna", &antenna)
    }
}

/// A tone as received: its phase and amplitude.
package struct LESoundingTone: PacketFields, Hashable, Sendable {
    /// The range of the two parts, of 12 bits each.
    package static let range = -2_048...2_047

    /// The in-phase part, -2048 to 2047.
    package var i = 0
    /// The quadrature part, -2048 to 2047.
    package var q = 0
    /// Bits 0 to 3: 0 high, 1 medium, 2 low, 3 unavailable. Bits 4 to 7: whether the slot is a tone extension.
    package var quality: UInt8 = 0

    package init() {}
    package init(i: Int, q: Int, quality: UInt8 = 0) { (self.i, self.q, self.quality) = (i, q, quality) }

    /// Whether the tone was received well enough.
    package var isUsable: Bool { quality & 0xF <= 1 }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var packed = UInt32(i & 0xFFF) | UInt32(q & 0xFFF) << 12
        try coder.uint24("Tone_PCT", &packed)
        if coder.isReading { (i, q) = (Self.signed(packed & 0xFFF), Self.signed(packed >> 12)) }
        try coder.field("Tone_Quality_Indicator", &quality)
    }

    private static func signed(_ bits: UInt32) -> Int { bits & 0x800 == 0 ? Int(bits) : Int(bits) - 0x1000 }
}

/// The data of a mode 2 step: a tone for each antenna path, and one of the extension slot.
package struct LESoundingMode2: PacketFields, Hashable, Sendable {
    /// The maximum number of tones.
    package static let maximumTones = 5

    /// The order of the antenna paths.
    package var permutation: UInt8 = 0
    package var tones: [LESoundingTone] = []

    package init() {}
    package init(permutation: UInt8, tones: [LESoundingTone]) {
        (self.permutation, self.tones) = (permutation, tones)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Antenna_Permutation_Index", &permutation)
        let count = coder.isReading ? coder.remaining / 4 : tones.count
        if coder.isReading, !(2...Self.maximumTones).contains(count) {
            throw PacketError(.length(coder.remaining), at: "Tone_PCT")
        }
        try coder.elements("Tone", &tones, count: count)
    }

    /// The tones of the antenna paths, in the order of the paths; without the one of the extension slot.
    package var byPath: [LESoundingTone] {
        let paths = max(tones.count - 1, 0)
        var result = Array(tones.prefix(paths))
        for (index, path) in Self.order(permutation, of: paths).enumerated() { result[path] = tones[index] }
        return result
    }

    /// Returns the order in which a step uses antenna paths, from 0 (Core Vol 6 Part H 4.7.5).
    ///
    /// The permutations of n paths are those of one path less, with the last path added, and then the same with the last
    /// path exchanged for each of the others, from the highest to the lowest.
    ///
    /// - Parameter paths: The number of paths, up to ``maximumTones`` - 1.
    package static func order(_ permutation: UInt8, of paths: Int) -> [Int] {
        var (order, block) = ([Int](), 1)
        for path in 0..<paths {
            let other = path - Int(permutation) / block % (path + 1)
            order = (order + [path]).map { $0 == path ? other : $0 == other ? path : $0 }
            block *= path + 1
        }
        return order
    }
}

/// The data of a mode 3 step: a round-trip time and tones.
package struct LESoundingMode3: PacketFields, Hashable, Sendable {
    package var time = LESoundingMode1()
    package var tones = LESoundingMode2()

    package init() {}
    package init(_ time: LESoundingMode1, _ tones: LESoundingMode2) { (self.time, self.tones) = (time, tones) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try time.code(&coder)
        try tones.code(&coder)
    }
}

/// What a step has measured.
package enum LESoundingMeasurement: Hashable, Sendable {
    case calibration(LESoundingMode0)
    case time(LESoundingMode1)
    case tones(LESoundingMode2)
    case both(LESoundingMode3)
    /// The step was not carried out, or has no result.
    case nothing

    /// Parses the data of a step.
    ///
    /// - Throws: ``PacketError`` if the mode or the channel is unknown, or the data do not match the mode.
    package init(_ step: LESoundingStep) throws(PacketError) {
        guard step.channel <= LESoundingStep.maximumChannel else {
            throw PacketError(.value(UInt64(step.channel)), at: "Step_Channel")
        }
        guard step.mode <= 3 else { throw PacketError(.value(UInt64(step.mode)), at: "Step_Mode") }
        if step.data.isEmpty {
            self = .nothing
        } else {
            self = try Self.parsed(step)
        }
    }

    private static func parsed(_ step: LESoundingStep) throws(PacketError) -> Self {
        switch step.mode {
        case 0: .calibration(try .init(reading: step.data))
        case 1: .time(try .init(reading: step.data))
        case 2: .tones(try .init(reading: step.data))
        default: .both(try .init(reading: step.data))
        }
    }

    /// The round-trip time of modes 1 and 3.
    package var time: LESoundingMode1? {
        switch self {
        case .time(let time): time
        case .both(let both): both.time
        default: nil
        }
    }

    /// The tones of modes 2 and 3.
    package var tones: LESoundingMode2? {
        switch self {
        case .tones(let tones): tones
        case .both(let both): both.tones
        default: nil
        }
    }
}

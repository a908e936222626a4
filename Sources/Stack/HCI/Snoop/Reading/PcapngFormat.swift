import BluetoothTypes

/// The pcapng format (IETF draft-ietf-opsawg-pcapng): sections of blocks, which describe interfaces or contain packets.
///
/// Blocks of other kinds are skipped, whatever their length.
struct PcapngFormat: CaptureFormat {
    /// The type of the block that starts a section. It is the same in both orders of octets.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    private static let interfaceDescription: UInt32 = 1
    private static let simplePacket: UInt32 = 3
    private static let enhancedPacket: UInt32 = 6
    private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D
    /// The octets of a block around its body: type, length, and the length again.
    private static let frame = 12
    static let maximumInterfaces = 256

    private var isBigEndian = false
    private var interfaces: [Interface] = []
    private(set) var hasBegun = false

    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard let start = window.peek(Self.frame) else { return .incomplete }
        let offset = window.offset
        let type = start.integer(UInt32.self, at: 0, isBigEndian: isBigEndian)
        if type == Self.sectionHeader {
            try beginSection(start, at: offset)
        } else if !hasBegun {
            throw CaptureReadingError(.notACapture, at: offset)
        }
        let length = start.integer(UInt32.self, at: 4, isBigEndian: isBigEndian)
        guard length >= Self.frame, length % 4 == 0 else {
            throw CaptureReadingError(.length(UInt64(length)), at: offset)
        }
        guard [Self.interfaceDescription, Self.simplePacket, Self.enhancedPacket].contains(type) else {
            window.skip(UInt64(length))
            return .nothing
        }
        guard length <= CaptureReader.maximumRecord else {
            throw CaptureReadingError(.length(UInt64(length)), at: offset)
        }
        guard let block = window.peek(Int(length)) else { return .incomplete }
        let record = try parse(type, Block(block, isBigEndian: isBigEndian, at: offset))
        window.skip(UInt64(length))
        return record.map { .record($0) } ?? .nothing
    }

    private mutating func beginSection(_ start: FileOctets, at offset: UInt64) throws(CaptureReadingError) {
        switch Self.byteOrderMagic {
        case start.integer(at: 8, isBigEndian: false): isBigEndian = false
        case start.integer(at: 8, isBigEndian: true): isBigEndian = true
        default: throw CaptureReadingError(.notACapture, at: offset)
        }
        (interfaces, hasBegun) = ([], true)
    }

    private mutating func parse(_ type: UInt32, _ block: Block) throws(CaptureReadingError) -> CaptureRecord? {
        switch type {
        case Self.interfaceDescription:
            guard interfaces.count < Self.maximumInterfaces else {
                throw CaptureReadingError(.interface(UInt32(interfaces.count)), at: block.offset)
            }
            interfaces.append(try Interface(block))
            return nil
        case Self.simplePacket:
            let length = try block.integer(UInt32.self, at: 8)
            let included = min(length, UInt32(block.end - 12))
            return try record(block, on: 0, ticks: 0, packetAt: 12, included: included, original: length)
        default:
            let ticks =
                try UInt64(block.integer(UInt32.self, at: 12)) << 32 | UInt64(block.integer(UInt32.self, at: 16))
            let included = try block.integer(UInt32.self, at: 20)
            let original = try block.integer(UInt32.self, at: 24)
            let number = try block.integer(UInt32.self, at: 8)
            return try record(block, on: number, ticks: ticks, packetAt: 28, included: included, original: original)
        }
    }

    private mutating func record(
        _ block: Block,
        on number: UInt32,
        ticks: UInt64,
        packetAt start: Int,
        included: UInt32,
        original: UInt32
    ) throws(CaptureReadingError) -> CaptureRecord {
        guard number < interfaces.count else { throw CaptureReadingError(.interface(number), at: block.offset) }
        guard included <= original, Int(included) <= block.end - start else {
            throw CaptureReadingError(.length(UInt64(included)), at: block.offset)
        }
        let index = Int(number)
        let packet = block.octets.packet(after: start, count: Int(included))
        var record = CaptureRecord(
            offset: block.offset,
            unixMicroseconds: interfaces[index].unixMicroseconds(ticks),
            content: .frame(linkType: 0, packet),
            adapter: number
        )
        let options = start + (Int(included) + 3) / 4 * 4
        try interfaces[index].linkType.fill(&record, packet, direction: block.direction(optionsAt: options))
        record.omitted = Int(original - included)
        return record
    }

    /// A block with its octets, from its type to its second length.
    struct Block {
        let octets: FileOctets
        let isBigEndian: Bool
        let offset: UInt64
        let end: Int

        init(_ octets: FileOctets, isBigEndian: Bool, at offset: UInt64) {
            (self.octets, self.isBigEndian, self.offset) = (octets, isBigEndian, offset)
            end = octets.count - 4
        }

        func integer<T: FixedWidthInteger & BitwiseCopyable>(
            _ type: T.Type,
            at index: Int
        ) throws(CaptureReadingError) -> T {
            guard index + T.bitWidth / 8 <= end else {
                throw CaptureReadingError(.length(UInt64(octets.count)), at: offset)
            }
            return octets.integer(at: index, isBigEndian: isBigEndian)
        }

        /// Returns where the value of an option starts, and its length; nil if the block has none.
        func option(_ code: UInt16, from start: Int) -> (start: Int, length: Int)? {
            var index = start
            while index + 4 <= end {
                let found = octets.integer(UInt16.self, at: index, isBigEndian: isBigEndian)
                let length = Int(octets.integer(UInt16.self, at: index + 2, isBigEndian: isBigEndian))
                guard found != 0, index + 4 + length <= end else { return nil }
                if found == code { return (index + 4, length) }
                index += 4 + (length + 3) / 4 * 4
            }
            return nil
        }

        /// The direction that the flags of a packet tell (`epb_flags`).
        func direction(optionsAt start: Int) -> HCIDirection? {
            guard let flags = option(2, from: start), flags.length == 4 else { return nil }
            return switch octets.integer(UInt32.self, at: flags.start, isBigEndian: isBigEndian) & 0b11 {
            case 1: .controllerToHost
            case 2: .hostToController
            default: nil
            }
        }
    }

    /// An interface: its link type, and the unit of its times.
    struct Interface {
        var linkType: LinkType
        /// The value of `if_tsresol`: a negative power of 10, or with the highest bit of 2.
        private var resolution: UInt8 = 6
        private var offsetSeconds: Int64 = 0

        init(_ block: Block) throws(CaptureReadingError) {
            linkType = LinkType(number: UInt32(try block.integer(UInt16.self, at: 8)))
            if let option = block.option(9, from: 16), option.length == 1 { resolution = block.octets[option.start] }
            if let option = block.option(14, from: 16), option.length == 8 {
                offsetSeconds = block.octets.integer(at: option.start, isBigEndian: block.isBigEndian)
            }
        }

        func unixMicroseconds(_ ticks: UInt64) -> Int64 {
            let exponent = Int(resolution & 0x7F)
            // Finer units than these do not occur, and 64 bits do not hold their times.
            guard exponent < (resolution & 0x80 == 0 ? 20 : 64) else { return offsetSeconds &* 1_000_000 }
            let perSecond =
                resolution & 0x80 == 0 ? (0..<exponent).reduce(UInt64(1)) { power, _ in power * 10 } : 1 << exponent
            let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: perSecond)
            let fraction = perSecond.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000)).quotient
            return (Int64(truncatingIfNeeded: seconds) &+ offsetSeconds) &* 1_000_000
                &+ Int64(truncatingIfNeeded: fraction)
        }
    }
}

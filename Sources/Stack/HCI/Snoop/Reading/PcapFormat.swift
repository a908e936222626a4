import BluetoothTypes

/// The pcap format: a header, and packets of one link type.
struct PcapFormat: CaptureFormat {
    private static let headerSize = 24
    private static let recordHeaderSize = 16

    let isBigEndian: Bool
    /// The unit of the part of a time that is less than a second.
    let ticksPerSecond: UInt32
    private var linkType: LinkType?

    init(isBigEndian: Bool, ticksPerSecond: UInt32) {
        (self.isBigEndian, self.ticksPerSecond) = (isBigEndian, ticksPerSecond)
    }

    var hasBegun: Bool { linkType != nil }

    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard linkType != nil else { return try begin(&window) }
        guard let header = window.peek(Self.recordHeaderSize) else { return .incomplete }
        let offset = window.offset
        let included = header.integer(UInt32.self, at: 8, isBigEndian: isBigEndian)
        let original = header.integer(UInt32.self, at: 12, isBigEndian: isBigEndian)
        guard included <= original, included <= CaptureReader.maximumRecord else {
            throw CaptureReadingError(.length(UInt64(included)), at: offset)
        }
        let length = Self.recordHeaderSize + Int(included)
        guard let octets = window.peek(length) else { return .incomplete }
        let seconds = Int64(header.integer(UInt32.self, at: 0, isBigEndian: isBigEndian))
        let ticks = Int64(header.integer(UInt32.self, at: 4, isBigEndian: isBigEndian))
        let packet = octets.packet(after: Self.recordHeaderSize)
        var record = CaptureRecord(
            offset: offset,
            unixMicroseconds: seconds * 1_000_000 + ticks * 1_000_000 / Int64(ticksPerSecond),
            content: .frame(linkType: 0, packet)
        )
        try linkType?.fill(&record, packet, direction: nil)
        record.omitted = Int(original - included)
        window.skip(UInt64(length))
        return .record(record)
    }

    private mutating func begin(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard let header = window.peek(Self.headerSize) else { return .incomplete }
        let version = header.integer(UInt16.self, at: 4, isBigEndian: isBigEndian)
        guard version == 2 else { throw CaptureReadingError(.version(UInt32(version)), at: 4) }
        // The upper bits are about frame check sequences, which Bluetooth does not have there.
        linkType = LinkType(number: header.integer(UInt32.self, at: 20, isBigEndian: isBigEndian) & 0xFFFF)
        window.skip(UInt64(Self.headerSize))
        return .nothing
    }
}

/// A link type of pcap and pcapng, and what has to be remembered from packet to packet.
struct LinkType: Sendable {
    private static let h4: UInt32 = 187
    private static let h4WithDirection: UInt32 = 201
    private static let linuxMonitor: UInt32 = 254

    let number: UInt32
    /// The direction of the last data packet that started a PDU, for link types that do not tell it.
    private var direction = HCIDirection.hostToController

    init(number: UInt32) { self.number = number }

    /// Parses a packet into its record.
    ///
    /// - Parameter known: The direction, if the file tells it beside the packet.
    mutating func fill(
        _ record: inout CaptureRecord,
        _ octets: PacketBuffer,
        direction known: HCIDirection?
    ) throws(CaptureReadingError) {
        switch number {
        case Self.h4:
            let packet = try HCIPacket(h4: octets, at: record.offset)
            record.content = .hci(packet, known ?? guessed(packet))
        case Self.h4WithDirection:
            // A number in big-endian order: 0 for packets of the host.
            guard octets.count >= 4 else { throw CaptureReadingError(.length(UInt64(octets.count)), at: record.offset) }
            let packet = try HCIPacket(h4: octets.suffix(after: 4), at: record.offset)
            record.content = .hci(packet, octets[3] & 1 == 1 ? .controllerToHost : .hostToController)
        case Self.linuxMonitor:
            // The numbers of the adapter and of the opcode, in big-endian order.
            guard octets.count >= 4 else { throw CaptureReadingError(.length(UInt64(octets.count)), at: record.offset) }
            record.adapter = UInt32(octets[0]) << 8 | UInt32(octets[1])
            let opcode = UInt16(octets[2]) << 8 | UInt16(octets[3])
            record.content = MonitorRecord.content(opcode, octets.suffix(after: 4))
        default: record.content = .frame(linkType: number, octets)
        }
    }

    /// Derives the direction from the packet. On LE links the flag of a PDU's first packet depends on it
    /// (Core Vol 4 Part E 5.4.2).
    private mutating func guessed(_ packet: HCIPacket) -> HCIDirection {
        switch packet.kind {
        case .command: return .hostToController
        case .event: return .controllerToHost
        case .acl, .synchronous, .isochronous: break
        }
        guard packet.kind == .acl, packet.bytes.count > 1 else { return direction }
        switch packet.bytes[1] >> 4 & 0b11 {
        case ACLPacket.Boundary.start.rawValue: direction = .controllerToHost
        case ACLPacket.Boundary.startNonFlushable.rawValue: direction = .hostToController
        default: break
        }
        return direction
    }
}

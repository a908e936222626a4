import BluetoothTypes

/// The ``BTSnoop`` format, as Android, BlueZ and Harald write it.
struct BTSnoopFormat: CaptureFormat {
    private var datalink: BTSnoop.Datalink?

    var hasBegun: Bool { datalink != nil }

    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard let datalink else { return try begin(&window) }
        guard let header = window.peek(BTSnoop.recordHeaderSize) else { return .incomplete }
        let offset = window.offset
        let original = header.integer(UInt32.self, at: 0, isBigEndian: true)
        let included = header.integer(UInt32.self, at: 4, isBigEndian: true)
        guard included <= original, original <= BTSnoop.maximumPacketSize else {
            throw CaptureReadingError(.length(UInt64(max(included, original))), at: offset)
        }
        let length = BTSnoop.recordHeaderSize + Int(included)
        guard let octets = window.peek(length) else { return .incomplete }
        let flags = header.integer(UInt32.self, at: 8, isBigEndian: true)
        let packet = octets.packet(after: BTSnoop.recordHeaderSize)
        var record = CaptureRecord(
            offset: offset,
            unixMicroseconds: header.integer(Int64.self, at: 16, isBigEndian: true) &- BTSnoop.unixEpoch,
            content: try datalink.content(packet, flags, at: offset),
            omitted: Int(original - included),
            drops: header.integer(UInt32.self, at: 12, isBigEndian: true)
        )
        if datalink == .monitor { record.adapter = flags >> 16 }
        window.skip(UInt64(length))
        return .record(record)
    }

    private mutating func begin(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard let header = window.peek(BTSnoop.headerSize) else { return .incomplete }
        guard header.packet(after: 0, count: BTSnoop.magic.count) == BTSnoop.magic else {
            throw CaptureReadingError(.notACapture, at: 0)
        }
        let version = header.integer(UInt32.self, at: 8, isBigEndian: true)
        guard version == BTSnoop.version else { throw CaptureReadingError(.version(version), at: 8) }
        let type = header.integer(UInt32.self, at: 12, isBigEndian: true)
        guard let known = BTSnoop.Datalink(rawValue: type) else { throw CaptureReadingError(.linkType(type), at: 12) }
        datalink = known
        window.skip(UInt64(BTSnoop.headerSize))
        return .nothing
    }
}

extension BTSnoop.Datalink {
    func content(
        _ octets: PacketBuffer,
        _ flags: UInt32,
        at offset: UInt64
    ) throws(CaptureReadingError) -> CaptureRecord.Content {
        let direction = flags & 1 == 1 ? HCIDirection.controllerToHost : .hostToController
        switch self {
        case .monitor: return MonitorRecord.content(UInt16(truncatingIfNeeded: flags), octets)
        case .h4: return .hci(try HCIPacket(h4: octets, at: offset), direction)
        case .h1:
            // Without a packet type, the flags distinguish commands and events from data.
            guard flags & 2 == 2 else { return .hci(HCIPacket(.acl, octets), direction) }
            return .hci(HCIPacket(direction == .controllerToHost ? .event : .command, octets), direction)
        }
    }
}

/// The records of Linux's monitor channel, which `btmon` writes.
enum MonitorRecord {
    static func content(_ opcode: UInt16, _ octets: PacketBuffer) -> CaptureRecord.Content {
        switch opcode {
        case 2: .hci(HCIPacket(.command, octets), .hostToController)
        case 3: .hci(HCIPacket(.event, octets), .controllerToHost)
        case 4: .hci(HCIPacket(.acl, octets), .hostToController)
        case 5: .hci(HCIPacket(.acl, octets), .controllerToHost)
        case 6: .hci(HCIPacket(.synchronous, octets), .hostToController)
        case 7: .hci(HCIPacket(.synchronous, octets), .controllerToHost)
        case 18: .hci(HCIPacket(.isochronous, octets), .hostToController)
        case 19: .hci(HCIPacket(.isochronous, octets), .controllerToHost)
        default: .monitor(opcode: opcode, octets)
        }
    }
}

extension HCIPacket {
    /// Splits a packet type from the packet that follows it.
    init(h4 octets: PacketBuffer, at offset: UInt64) throws(CaptureReadingError) {
        guard let type = octets.isEmpty ? nil : octets[0] else { throw CaptureReadingError(.length(0), at: offset) }
        guard let kind = HCIPacket.Kind(rawValue: type) else {
            throw CaptureReadingError(.packetType(type), at: offset)
        }
        self.init(kind, octets.suffix(after: 1))
    }
}

import BluetoothTypes

/// A record of a capture file, whatever its format.
package struct CaptureRecord: Hashable, Sendable {
    /// The contents of a record.
    package enum Content: Hashable, Sendable {
        case hci(HCIPacket, HCIDirection)
        /// A record of Linux's monitor that is not an HCI packet, such as a note: its opcode, and its octets.
        case monitor(opcode: UInt16, PacketBuffer)
        /// A record of PacketLogger that is not an HCI packet, such as a message: its type, and its octets.
        case log(kind: UInt8, PacketBuffer)
        /// A frame of another link type of pcap, such as LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: its type, and its octets.
        case frame(linkType: UInt32, PacketBuffer)
    }

    /// The position of the record in the file, in octets.
    package var offset: UInt64
    /// The time of the record, in microseconds since the Unix epoch.
    package var unixMicroseconds: Int64
    package var content: Content
    /// The number of the adapter or interface that the record belongs to.
    package var adapter: UInt32 = 0
    /// The number of octets that the capture left out at the end of the packet.
    package var omitted = 0
    /// The number of packets dropped from the capture since the beginning of the file, if the format counts them.
    package var drops: UInt32 = 0

    package var packet: HCIPacket? {
        if case .hci(let packet, _) = content { packet } else { nil }
    }

    package var direction: HCIDirection? {
        if case .hci(_, let direction) = content { direction } else { nil }
    }

    func copied() -> CaptureRecord {
        func copy(_ octets: PacketBuffer) -> PacketBuffer { PacketBuffer(copying: octets, headroom: 0) }
        var record = self
        record.content =
            switch content {
            case .hci(let packet, let direction): .hci(HCIPacket(packet.kind, copy(packet.bytes)), direction)
            case .monitor(let opcode, let octets): .monitor(opcode: opcode, copy(octets))
            case .log(let kind, let octets): .log(kind: kind, copy(octets))
            case .frame(let type, let octets): .frame(linkType: type, copy(octets))
            }
        return record
    }
}

/// An error that prevents the reading of a capture file.
package struct CaptureReadingError: Error, Hashable, Sendable {
    /// The cause of the error.
    package enum Fault: Hashable, Sendable {
        /// The file does not start as a capture of a known format does.
        case notACapture
        /// The version of the format is not supported.
        case version(UInt32)
        /// The link type, or the datalink type of btsnoop, is not supported.
        case linkType(UInt32)
        /// A length contradicts the format, or exceeds the limit.
        case length(UInt64)
        /// The packet type is not one of H4.
        case packetType(UInt8)
        /// A packet belongs to an interface that the file does not describe.
        case interface(UInt32)
        /// The file ends within a record.
        case truncated
    }

    /// The position in the file of the record with the error, in octets.
    package var offset: UInt64
    package var fault: Fault

    package init(_ fault: Fault, at offset: UInt64) { (self.offset, self.fault) = (offset, fault) }
}

extension CaptureReadingError: CustomStringConvertible {
    /// The position and the cause, for the user.
    package var description: String {
        let reason =
            switch fault {
            case .notACapture: "the file is not a btsnoop, pcap, pcapng or PacketLogger capture"
            case .version(let version): "version \(version) of the format is not supported"
            case .linkType(let type): "the link type \(type) is not supported"
            case .length(let length): "the length \(length) is invalid"
            case .packetType(let type): "\(type) is not a packet type of H4"
            case .interface(let number): "the interface \(number) is not described"
            case .truncated: "the file ends within a record"
            }
        return "at offset \(offset): \(reason)"
    }
}

import BluetoothTypes
import HCI

/// A file of redacted records, which has nothing but their packets and times: btsnoop for captures of HCI, and pcapng
/// for captures with frames of the air.
package struct RedactedFile: Sendable {
    private enum Format: Sendable {
        case btsnoop
        /// Linux's monitor, whose records tell their adapter.
        case monitor
        case pcapng
    }

    private let format: Format
    private var interfaces = RedactedInterfaces()

    /// The time zero of btsnoop, in microseconds before 1970 (RFC 1761 with the epoch of Symbian).
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// - Parameter first: The first record of the source, which tells whether it is a capture of Linux's monitor.
    package init(like first: CaptureRecord, hasFrames: Bool = false) {
        let isMonitor = if case .monitor = first.content { true } else { first.adapter != 0 }
        format = hasFrames ? .pcapng : isMonitor ? .monitor : .btsnoop
    }

    package var header: [UInt8] {
        guard format != .pcapng else { return RedactedInterfaces.sectionHeader }
        let datalink: UInt32 = format == .monitor ? 2_001 : 1_002
        return Array("btsnoop".utf8) + [0] + Self.big(UInt32(1)) + Self.big(datalink)
    }

    /// Returns a record; nil if the file has no place for it.
    package mutating func record(_ record: CaptureRecord) -> [UInt8]? {
        if format == .pcapng { return interfaces.record(record) }
        guard case .hci(let packet, let direction) = record.content else { return nil }
        let octets = (format == .monitor ? [] : [packet.kind.rawValue]) + packet.bytes
        var flags: UInt32 = direction == .controllerToHost ? 1 : 0
        if packet.kind == .command || packet.kind == .event { flags |= 2 }
        if format == .monitor { flags = record.adapter << 16 | Self.opcode(packet.kind, direction) }
        let lengths = Self.big(UInt32(octets.count + record.omitted)) + Self.big(UInt32(octets.count))
        let time = Self.big(UInt64(bitPattern: record.unixMicroseconds &+ Self.epoch))
        return lengths + Self.big(flags) + Self.big(record.drops) + time + octets
    }

    /// Returns the opcode of Linux's monitor.
    private static func opcode(_ kind: HCIPacket.Kind, _ direction: HCIDirection) -> UInt32 {
        let received: UInt32 = direction == .controllerToHost ? 1 : 0
        return switch kind {
        case .command: 2
        case .event: 3
        case .acl: 4 + received
        case .synchronous: 6 + received
        case .isochronous: 18 + received
        }
    }

    private static func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }
}

/// The interfaces of a pcapng file, each described before its first packet (IETF draft-ietf-opsawg-pcapng).
private struct RedactedInterfaces: Sendable {
    private struct Interface: Hashable, Sendable {
        let adapter: UInt32
        let linkType: UInt32
    }

    /// HCI packets with their type, after a number in big-endian order that tells the direction.
    private static let h4WithDirection: UInt32 = 201
    /// The interfaces that readers accept.
    private static let maximum = 256

    private var numbers: [Interface: UInt32] = [:]

    /// The header of a section of unknown length, in the byte order that its first number tells.
    static var sectionHeader: [UInt8] {
        block(0x0A0D_0D0A, little(UInt32(0x1A2B_3C4D)) + [1, 0, 0, 0] + little(UInt64.max))
    }

    mutating func record(_ record: CaptureRecord) -> [UInt8]? {
        let linkType: UInt32
        let octets: [UInt8]
        switch record.content {
        case .hci(let packet, let direction):
            linkType = Self.h4WithDirection
            octets = [0, 0, 0, direction == .controllerToHost ? 1 : 0, packet.kind.rawValue] + packet.bytes
        case .frame(let type, let frame): (linkType, octets) = (type, Array(frame))
        case .monitor, .log: return nil
        }
        var result: [UInt8] = []
        let interface = Interface(adapter: record.adapter, linkType: linkType)
        if numbers[interface] == nil {
            guard numbers.count < Self.maximum else { return nil }
            numbers[interface] = UInt32(numbers.count)
            // The link type, and no limit of the length; times are in microseconds.
            result = Self.block(1, Self.little(UInt16(truncatingIfNeeded: linkType)) + [UInt8](repeating: 0, count: 6))
        }
        let time = UInt64(max(0, record.unixMicroseconds))
        let lengths = Self.little(UInt32(octets.count)) + Self.little(UInt32(octets.count + record.omitted))
        let header =
            Self.little(numbers[interface] ?? 0) + Self.little(UInt32(time >> 32))
            + Self.little(UInt32(truncatingIfNeeded: time)) + lengths
        return result + Self.block(6, header + octets)
    }

    /// Returns a block: its type, its length, its body with padding, and its length again.
    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        let length = little(UInt32(12 + body.count + padding.count))
        return little(type) + length + body + padding + length
    }

    private static func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: 0, to: T.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }
}

import BluetoothTypes
import HCI

/// A btsnoop file of redacted records. It has nothing but their packets and times.
package struct RedactedFile: Sendable {
    /// Whether the file is one of Linux's monitor, whose records tell their adapter.
    private let isMonitor: Bool

    /// The time zero of btsnoop, in microseconds before 1970 (RFC 1761 with the epoch of Symbian).
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// Creates a file.
    ///
    /// - Parameter first: The first record of the source, which tells whether it is a capture of Linux's monitor.
    package init(like first: CaptureRecord) {
        isMonitor = if case .monitor = first.content { true } else { first.adapter != 0 }
    }

    /// The header of the file.
    package var header: [UInt8] {
        Array("btsnoop".utf8) + [0] + Self.big(UInt32(1)) + Self.big(UInt32(isMonitor ? 2_001 : 1_002))
    }

    /// Returns a record; nil if it is no HCI packet.
    package func record(_ record: CaptureRecord) -> [UInt8]? {
        guard case .hci(let packet, let direction) = record.content else { return nil }
        let octets = (isMonitor ? [] : [packet.kind.rawValue]) + packet.bytes
        var flags: UInt32 = direction == .controllerToHost ? 1 : 0
        if packet.kind == .command || packet.kind == .event { flags |= 2 }
        if isMonitor { flags = record.adapter << 16 | Self.opcode(packet.kind, direction) }
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

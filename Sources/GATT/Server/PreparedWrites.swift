import ATT
import BluetoothTypes

/// What one client has prepared and not yet executed (Core Vol 3 Part F 3.4.6).
struct PreparedWrites {
    /// Most parts (AB-A01): four values of 512 octets over the smallest MTU.
    static let maximumParts = 128
    /// Most octets of all parts.
    static let maximumOctets = 8192

    private(set) var parts: [GATTWrite] = []
    private var octets = 0

    /// Keeps a part, unless the quota is used up. The octets are copied: a slice would keep the whole packet alive.
    mutating func add(handle: UInt16, offset: UInt16, value: PacketBuffer) -> ATTErrorCode? {
        guard parts.count < Self.maximumParts, octets + value.count <= Self.maximumOctets else {
            return .prepareQueueFull
        }
        octets += value.count
        parts.append(
            GATTWrite(handle: handle, offset: Int(offset), value: PacketBuffer(copying: value, headroom: 0))
        )
        return nil
    }

    /// Everything that was prepared; nothing is left.
    mutating func takeAll() -> [GATTWrite] {
        defer { self = PreparedWrites() }
        return parts
    }
}

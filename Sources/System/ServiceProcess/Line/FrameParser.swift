import BluetoothTypes
import ServiceMessages

/// Splits the octets of a socket into messages. Each is preceded by its length in four octets, least significant first.
package struct FrameParser {
    /// The size of the length field, in octets.
    static let headerSize = 4

    /// The length of a message exceeds the limit. The stream cannot be parsed any further.
    package struct TooLong: Error, Hashable {
        package let length: Int
    }

    private var kept = PacketBuffer(headroom: 0)

    package init() {}

    /// Parses more octets and returns the messages that are complete. A message that lies within `octets` is not
    /// copied.
    package mutating func parse(_ octets: PacketBuffer) throws(TooLong) -> [PacketBuffer] {
        let isBegun = !kept.isEmpty
        if isBegun { kept.append(contentsOf: octets) }
        var rest = isBegun ? kept : octets
        var messages: [PacketBuffer] = []
        while rest.count >= Self.headerSize {
            let length = Self.length(of: rest)
            guard length <= ServiceLimits.message else { throw TooLong(length: length) }
            guard rest.count - Self.headerSize >= length else { break }
            messages.append(rest.slice(Self.headerSize..<Self.headerSize + length))
            rest = rest.suffix(after: Self.headerSize + length)
        }
        // A message that arrives in many pieces is not copied once for each of them.
        if isBegun, messages.isEmpty { return [] }
        kept = rest.isEmpty ? PacketBuffer(headroom: 0) : PacketBuffer(copying: rest, headroom: 0)
        return messages
    }

    package static func frame(_ message: PacketBuffer) -> PacketBuffer {
        var frame = message
        frame.prepend(integer: UInt32(clamping: message.count))
        return frame
    }

    private static func length(of octets: PacketBuffer) -> Int {
        (0..<headerSize).reduce(0) { $0 | Int(octets[$1]) << (8 * $1) }
    }
}

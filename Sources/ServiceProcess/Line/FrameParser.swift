import BluetoothService
import BluetoothTypes

/// Cuts the octets of a socket into messages: each stands behind its length, four octets, least significant first.
package struct FrameParser {
    /// Octets of a length.
    static let headerSize = 4

    /// What is not a message. Nothing can be made of what follows.
    package struct TooLong: Error, Hashable {
        package let length: Int

        init(length: Int) {
            self.length = length
        }
    }

    private var kept = PacketBuffer(headroom: 0)

    /// A parser of a line that begins.
    package init() {}

    /// The messages that are whole now, without a copy where one lies within `octets`.
    package mutating func take(_ octets: PacketBuffer) throws(TooLong) -> [PacketBuffer] {
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
        // A message that comes in many pieces is not copied for each of them.
        if isBegun, messages.isEmpty { return [] }
        kept = rest.isEmpty ? PacketBuffer(headroom: 0) : PacketBuffer(copying: rest, headroom: 0)
        return messages
    }

    /// A message with its length in front.
    package static func frame(_ message: PacketBuffer) -> PacketBuffer {
        var frame = message
        frame.prepend(integer: UInt32(clamping: message.count))
        return frame
    }

    private static func length(of octets: PacketBuffer) -> Int {
        (0..<headerSize).reduce(0) { $0 | Int(octets[$1]) << (8 * $1) }
    }
}

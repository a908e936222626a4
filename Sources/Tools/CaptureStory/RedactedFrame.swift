import BluetoothTypes
import LinkLayer

/// Puts the replacement of a payload into a frame of the air, with the check sequence that readers expect.
enum RedactedFrame {
    private static let checkLength = 3
    /// The flags of the pseudo-header that tell that the CRC was checked, and was right.
    private static let checkFlags: UInt8 = 0x0C
    /// The upper octet of the flags in the pseudo-header.
    private static let flagsPosition = 9

    /// Returns a frame with another payload of the same length.
    ///
    /// The CRC stays right or wrong if its initial value is known. Otherwise it becomes zero, and is marked as not
    /// checked where the link type has a mark for it.
    static func octets(
        _ octets: PacketBuffer,
        linkType: UInt32,
        _ payload: ArraySlice<UInt8>,
        initial: UInt32?
    ) -> PacketBuffer {
        guard let frame = AirFrame(octets, linkType: linkType) else { return octets }
        let start = frame.position + 2
        let old = octets.slice(start + frame.payload.count..<octets.count)
        let body = Array(octets.slice(frame.position..<start)) + payload
        var result = Array(octets.prefix(upTo: frame.position)) + body
        var check = [UInt8](repeating: 0, count: checkLength)
        if let initial {
            let wasRight = Array(old.prefix(upTo: checkLength)) == crc(Array(frame.pdu), initial)
            check = crc(body, initial)
            if !wasRight { check = check.map(~) }
        } else if linkType == AirFrame.withHeader {
            result[flagsPosition] &= ~checkFlags
        }
        result += check.prefix(old.count)
        result += [UInt8](repeating: 0, count: max(0, old.count - checkLength))
        return PacketBuffer(linkType == AirFrame.perPacket ? withoutPlaces(result) : result)
    }

    private static func crc(_ pdu: [UInt8], _ initial: UInt32) -> [UInt8] {
        CyclicRedundancyCheck.octets(of: pdu, initial: initial)
    }

    /// Removes the fields of Per-Packet Information except those of Ubertooth: others may tell where the sniffer was.
    private static func withoutPlaces(_ octets: [UInt8]) -> [UInt8] {
        let (headerSize, ubertooth) = (8, UInt16(30_006))
        let buffer = PacketBuffer(octets)
        guard let size = buffer.word(at: 2).map(Int.init), size >= headerSize, size <= octets.count else { return [] }
        // The lowest flag tells that fields are padded to multiples of four octets.
        let isPadded = octets[1] & 1 == 1
        var fields: [UInt8] = []
        var rest = buffer.slice(headerSize..<size)
        while let type = rest.word(at: 0), let length = rest.word(at: 2).map(Int.init) {
            if type == ubertooth { fields += rest.prefix(upTo: 4 + length) }
            rest = rest.suffix(after: 4 + (isPadded ? (length + 3) / 4 * 4 : length))
        }
        let new = headerSize + fields.count
        let length = [UInt8(truncatingIfNeeded: new), UInt8(truncatingIfNeeded: new >> 8)]
        return [octets[0], 0] + length + octets[4..<headerSize] + fields + octets[size...]
    }
}

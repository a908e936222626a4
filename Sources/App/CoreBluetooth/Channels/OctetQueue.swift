import BluetoothTypes

/// Received octets that wait to be read, in the pieces in which they arrived.
struct OctetQueue {
    private var pieces: [PacketBuffer] = []
    // The number of pieces that were read, and of octets of the next piece.
    private var readPieces = 0
    private var offset = 0
    private(set) var count = 0

    mutating func append(_ piece: PacketBuffer) {
        guard !piece.isEmpty else { return }
        pieces.append(piece)
        count += piece.count
    }

    /// Moves as many octets as there are and `target` has room for. Returns their number.
    mutating func read(into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var filled = 0
        while filled < target.count, readPieces < pieces.count {
            let piece = pieces[readPieces]
            let length = min(piece.count - offset, target.count - filled)
            let rest = piece.slice(offset..<(offset + length))
            _ = UnsafeMutableBufferPointer(rebasing: target[filled...]).update(fromContentsOf: rest)
            filled += length
            offset += length
            if offset == piece.count { next() }
        }
        count -= filled
        return filled
    }

    private mutating func next() {
        readPieces += 1
        offset = 0
        // The storage of pieces that were read is released in large steps.
        guard readPieces == pieces.count || readPieces > 64 else { return }
        pieces.removeFirst(readPieces)
        readPieces = 0
    }
}

import BluetoothTypes

/// SLIP framing of a byte stream (Core Vol 4 Part D 3; RFC 1055, except that a delimiter also starts each frame).
enum SLIP {
    static let delimiter: UInt8 = 0xC0
    static let escape: UInt8 = 0xDB
    /// After ``escape``: a delimiter within the frame.
    static let escapedDelimiter: UInt8 = 0xDC
    /// After ``escape``: an escape within the frame.
    static let escapedEscape: UInt8 = 0xDD

    /// Returns a frame with escapes and delimiters.
    static func encode(_ frame: [UInt8]) -> [UInt8] {
        var octets = [delimiter]
        octets.reserveCapacity(frame.count + frame.count / 16 + 2)
        for octet in frame {
            switch octet {
            case delimiter: octets += [escape, escapedDelimiter]
            case escape: octets += [escape, escapedEscape]
            default: octets.append(octet)
            }
        }
        octets.append(delimiter)
        return octets
    }
}

/// A SLIP decoder for a stream in which octets may be altered, inserted or lost. It drops an invalid frame and
/// continues at the next delimiter.
struct SLIPDecoder {
    private enum State: Hashable {
        /// Octets are dropped until the next delimiter.
        case lost
        case inFrame
        /// The previous octet was an escape.
        case escaping
    }

    /// The maximum length of a frame, in octets. Longer ones are dropped (AB-H02).
    let maximumLength: Int
    private var state = State.lost
    private var frame: [UInt8] = []

    init(maximumLength: Int) {
        self.maximumLength = maximumLength
    }

    /// Decodes octets, split at any position, and returns the frames that they complete.
    mutating func decode(_ octets: some Sequence<UInt8>) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        for octet in octets {
            if octet == SLIP.delimiter {
                // Of two delimiters in a row, the first ends a frame and the second starts one.
                if state == .inFrame, !frame.isEmpty { frames.append(frame) }
                frame = []
                state = .inFrame
            } else {
                decode(octet)
            }
        }
        return frames
    }

    private mutating func decode(_ octet: UInt8) {
        switch (state, octet) {
        case (.lost, _): return
        case (.inFrame, SLIP.escape):
            state = .escaping
            return
        case (.inFrame, _): frame.append(octet)
        case (.escaping, SLIP.escapedDelimiter): frame.append(SLIP.delimiter)
        case (.escaping, SLIP.escapedEscape): frame.append(SLIP.escape)
        case (.escaping, _):
            (state, frame) = (.lost, [])
            return
        }
        state = .inFrame
        if frame.count > maximumLength { (state, frame) = (.lost, []) }
    }
}

/// A probe for the three-wire protocol, used before a transport exists.
package struct SLIPFrames {
    /// The octets of the SYNC message, which starts the protocol.
    package static var sync: PacketBuffer {
        PacketBuffer(SLIP.encode(ThreeWirePacket(.linkControl, ThreeWireMessage.sync.payload).frame))
    }

    private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)

    package init() {}

    /// Decodes octets, split at any position, and returns whether they complete a valid packet.
    package mutating func hasPacket(in octets: [UInt8]) -> Bool {
        decoder.decode(octets).contains { (try? ThreeWirePacket(frame: $0)) != nil }
    }
}

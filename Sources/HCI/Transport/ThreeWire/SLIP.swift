/// Frames in a stream of octets, between delimiters (Core Vol 4 Part D 3; RFC 1055 with one difference: a frame also begins with one).
enum SLIP {
    static let delimiter: UInt8 = 0xC0
    static let escape: UInt8 = 0xDB
    /// Behind an ``escape``: a delimiter that is part of the frame.
    static let escapedDelimiter: UInt8 = 0xDC
    /// Behind an ``escape``: the escape itself.
    static let escapedEscape: UInt8 = 0xDD

    /// A frame as it goes over the line.
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

/// Finds frames in a stream of octets that may be wrong, too many or too few. A frame that cannot be one is left out, and the next
/// delimiter begins another.
struct SLIPDecoder {
    private enum State: Hashable {
        /// Nothing counts before the next delimiter.
        case lost
        case inFrame
        /// The octet before was an escape.
        case escaping
    }

    /// Octets of a frame; a longer one is none (AB-H02).
    let maximumLength: Int
    private var state = State.lost
    private var frame: [UInt8] = []

    init(maximumLength: Int) {
        self.maximumLength = maximumLength
    }

    /// Takes octets in whatever pieces they come, and gives the frames that they complete.
    mutating func take(_ octets: some Sequence<UInt8>) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        for octet in octets {
            if octet == SLIP.delimiter {
                // Two delimiters in a row end one frame and begin the next.
                if state == .inFrame, !frame.isEmpty { frames.append(frame) }
                frame = []
                state = .inFrame
            } else {
                take(octet)
            }
        }
        return frames
    }

    private mutating func take(_ octet: UInt8) {
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

import BluetoothTypes
import HCI

/// A parser for H4 byte streams (Core Vol 4 Part A 2): each packet consists of a packet type octet, a header of that
/// type and the number of octets in the header.
///
/// The stream has no marks for resynchronization, and the peer controls what a parser would read as packets after an
/// invalid octet. An invalid packet type therefore ends the stream, which is the policy for AB-H02: ``failure`` is set,
/// no more packets are returned, the transport closes, and the host reports the error. A new transport starts with a
/// reset.
///
/// A wire that outlasts its transport may still carry part of an earlier packet. A parser on such a wire starts out of
/// step and discards everything before the answer to Reset, the host's first command (Core Vol 4 Part A 4).
///
/// A transport with a pipe per packet type has no type octets (Core Vol 4 Part B 2.1). A parser for such a pipe accepts
/// a single type.
package struct H4Parser {
    /// The maximum length of a packet with its type octet: ACL data with 65,535 octets. The parser never buffers more.
    package static let maximumPacketLength = 1 + 4 + 65_535

    /// The error for an invalid packet type, which ended the stream; nil as long as there was none.
    package private(set) var failure: PacketError?
    private var incomplete: [UInt8] = []
    // The length that `incomplete` must reach before it is parsed again, so that a packet that arrives in small pieces
    // is not copied each time.
    private var needed = 0
    /// Whether the parser is discarding octets until the answer to Reset.
    package private(set) var isResynchronizing: Bool
    // The packet type of a stream without type octets; nil if the stream has them.
    private let only: HCIPacket.Kind?

    /// The Command Complete event for Reset up to its status; nil stands for any number of credits.
    private static let resetAnswer: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C]

    /// - Parameters:
    ///   - only: The packet type of a stream without type octets; nil if the stream has them.
    ///   - isResynchronizing: Whether the stream may start within a packet, so that everything before the answer to
    ///     Reset is discarded.
    package init(only: HCIPacket.Kind? = nil, isResynchronizing: Bool = false) {
        self.only = only
        self.isResynchronizing = isResynchronizing
    }

    /// The length of the type octet: 1, or 0 if the stream has none.
    private var typeLength: Int { only == nil ? 1 : 0 }

    /// The number of buffered octets of an incomplete packet.
    package var pendingLength: Int { incomplete.count }

    /// Parses octets, split at any position, and returns the packets that they complete, in order. The packets share
    /// the storage of `octets` where possible.
    package mutating func parse(_ octets: [UInt8]) -> [HCIPacket] {
        guard failure == nil else { return [] }
        var octets = octets
        if !incomplete.isEmpty {
            incomplete.append(contentsOf: octets)
            guard incomplete.count >= needed else { return [] }
            octets = incomplete
            incomplete = []
        }
        if isResynchronizing {
            octets = fromResetAnswer(octets)
            guard !isResynchronizing else { return [] }
        }
        let stream = PacketBuffer(octets)
        var packets: [HCIPacket] = []
        var start = 0
        needed = 0
        while start < stream.count {
            guard let kind = only ?? HCIPacket.Kind(rawValue: stream[start]) else {
                failure = PacketError(.value(UInt64(stream[start])), at: "H4 packet type")
                return packets
            }
            let body = stream.suffix(after: start + typeLength)
            let length = Self.length(of: kind, in: body)
            guard let length, body.count >= length else {
                needed = typeLength + (length ?? body.count + 1)
                break
            }
            packets.append(HCIPacket(kind, body.prefix(upTo: length)))
            start += typeLength + length
        }
        if start < stream.count { incomplete = stream.suffix(after: start).bytes }
        return packets
    }

    /// Returns the octets from the answer to Reset on. If there is no answer yet, buffers a partial match at the end
    /// and returns nothing.
    private mutating func fromResetAnswer(_ octets: [UInt8]) -> [UInt8] {
        let answer = Self.resetAnswer.dropFirst(1 - typeLength)
        for start in octets.indices {
            let candidate = octets[start...].prefix(answer.count)
            guard zip(candidate, answer).allSatisfy({ $1 == nil || $0 == $1 }) else { continue }
            isResynchronizing = candidate.count < answer.count
            guard isResynchronizing else { return Array(octets[start...]) }
            incomplete = Array(candidate)
            break
        }
        needed = 0
        return []
    }

    /// Returns the length of a packet including its header, or nil if the header is incomplete (Core Vol 4 Part E 5.4).
    private static func length(of kind: HCIPacket.Kind, in body: PacketBuffer) -> Int? {
        switch kind {
        case .command, .synchronous:
            body.count < 3 ? nil : 3 + Int(body[2])
        case .event:
            body.count < 2 ? nil : 2 + Int(body[1])
        case .acl:
            body.count < 4 ? nil : 4 + (Int(body[2]) | Int(body[3]) << 8)
        case .isochronous:
            // The two most significant bits of the length are reserved (Vol 4 Part E 5.4.5).
            body.count < 4 ? nil : 4 + ((Int(body[2]) | Int(body[3]) << 8) & 0x3FFF)
        }
    }
}

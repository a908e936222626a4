import BluetoothTypes

/// Finds HCI packets in a stream of octets (Core Vol 4 Part A 2): a type octet, the header of that type, and as many
/// octets as the header says.
///
/// The stream has no marks to find the next packet by, and whatever is taken for one after a wrong octet is the other end's
/// choice. So octets that cannot be a packet end it, which is the policy for AB-H02: ``failure`` is set, nothing is found any
/// more, the transport closes, and the host reports the error. A new line begins with a reset.
///
/// A wire that stays when a line is closed may have the rest of something on it. There a parser begins out of step: nothing counts
/// before the answer to a reset, which the host sends first (Core Vol 4 Part A 4).
///
/// A line with a pipe for each kind of packet has no type octets (Core Vol 4 Part B 2.1); there a parser takes one kind alone.
package struct H4Parser {
    /// The longest packet with its type octet: ACL data with 65,535 octets. No more than this is ever kept.
    package static let maximumPacketLength = 1 + 4 + 65_535

    /// The octet that was no packet type.
    package private(set) var failure: PacketError?
    private var incomplete: [UInt8] = []
    // Octets that `incomplete` needs before a look at it is worth while: a packet that drips in is not copied each time.
    private var needed = 0
    /// Whether nothing counts yet.
    package private(set) var isResynchronizing: Bool
    // What all packets are where there are no type octets.
    private let only: HCIPacket.Kind?

    /// What comes before the status of a reset's answer: Command Complete, with whatever credits. nil for any octet.
    private static let resetAnswer: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C]

    /// A parser at the front of a stream, or somewhere in it.
    ///
    /// - Parameter only: What all packets are, where the stream has no type octets.
    package init(only: HCIPacket.Kind? = nil, isResynchronizing: Bool = false) {
        self.only = only
        self.isResynchronizing = isResynchronizing
    }

    /// Octets of the type in front of each packet.
    private var typeLength: Int { only == nil ? 1 : 0 }

    /// Octets of a packet that is not complete yet.
    package var pendingLength: Int { incomplete.count }

    /// Takes octets in whatever pieces they come and returns the packets that they complete, in order. The packets share
    /// the storage of `octets` where they can.
    package mutating func take(_ octets: [UInt8]) -> [HCIPacket] {
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

    /// What follows from the answer to a reset on. While there is none, its beginning is kept.
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

    /// The length of a packet with its header, nil while the header is incomplete (Core Vol 4 Part E 5.4).
    private static func length(of kind: HCIPacket.Kind, in body: PacketBuffer) -> Int? {
        switch kind {
        case .command, .synchronous:
            body.count < 3 ? nil : 3 + Int(body[2])
        case .event:
            body.count < 2 ? nil : 2 + Int(body[1])
        case .acl:
            body.count < 4 ? nil : 4 + (Int(body[2]) | Int(body[3]) << 8)
        case .isochronous:
            // The two top bits of the length are reserved (Vol 4 Part E 5.4.5).
            body.count < 4 ? nil : 4 + ((Int(body[2]) | Int(body[3]) << 8) & 0x3FFF)
        }
    }
}

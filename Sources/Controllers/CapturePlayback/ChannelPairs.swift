import BluetoothTypes

/// The credit-based channels of a connection: which channel of the peer belongs to which one of the host.
struct ChannelPairs: Sendable {
    /// The maximum number of channels and of pending requests, as many as there are identifiers of channels.
    private static let maximum = 64

    private struct Request: Hashable {
        let identifier: UInt8
        let isOfHost: Bool
    }

    private var requests: [Request: [UInt16]] = [:]
    /// The channel that the host sends to, by the one that it receives on.
    private var sending: [UInt16: UInt16] = [:]

    /// Receives a signalling command of either side (Core Vol 3 Part A 4.22 to 4.26). Other PDUs change nothing.
    mutating func receive(_ pdu: ChannelPDU, isSent: Bool) {
        guard let identifier = pdu.identifier else { return }
        switch pdu.code {
        case 0x14: request(identifier, isSent, Self.words(pdu, from: 6).prefix(1))
        case 0x17: request(identifier, isSent, Self.words(pdu, from: 12))
        case 0x15: respond(identifier, isSent, Self.words(pdu, from: 4).prefix(1))
        case 0x18: respond(identifier, isSent, Self.words(pdu, from: 12))
        default: break
        }
    }

    /// The channel that the host sends to, for a PDU of the peer: data on a channel, or credits for it.
    func sendingEnd(for pdu: ChannelPDU) -> UInt16? {
        // LE Flow Control Credit names the channel by the end of its sender (Core Vol 3 Part A 4.24).
        if pdu.channel == ChannelPDU.signalling { return pdu.code == 0x16 ? pdu.word(at: 4) : nil }
        return sending[pdu.channel]
    }

    /// The channel of the host that a PDU of the host grants credits for.
    static func grantedChannel(_ pdu: ChannelPDU) -> UInt16? {
        pdu.channel == ChannelPDU.signalling && pdu.code == 0x16 ? pdu.word(at: 4) : nil
    }

    private mutating func request(_ identifier: UInt8, _ isOfHost: Bool, _ channels: some Sequence<UInt16>) {
        guard requests.count < Self.maximum else { return }
        requests[Request(identifier: identifier, isOfHost: isOfHost)] = Array(channels)
    }

    private mutating func respond(_ identifier: UInt8, _ isOfHost: Bool, _ channels: some Sequence<UInt16>) {
        guard let asked = requests.removeValue(forKey: Request(identifier: identifier, isOfHost: !isOfHost)) else {
            return
        }
        // A channel that was refused has the identifier zero.
        for (source, destination) in zip(asked, channels) where destination != 0 && sending.count < Self.maximum {
            let (host, peer) = isOfHost ? (destination, source) : (source, destination)
            sending[host] = peer
        }
    }

    private static func words(_ pdu: ChannelPDU, from start: Int) -> [UInt16] {
        stride(from: start, to: pdu.payload.count - 1, by: 2).prefix(5).compactMap { pdu.word(at: $0) }
    }
}

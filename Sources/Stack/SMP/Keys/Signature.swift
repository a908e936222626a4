import BluetoothTypes
import Cryptography

/// The signature of a message: a counter that is never reused, and a MAC over message and counter (Core Vol 3 Part H
/// 2.4.5).
struct Signature: Equatable {
    /// The length of a signature in octets.
    static let length = 12

    let counter: UInt32
    /// The more significant half of the MAC.
    let code: UInt64

    init(of message: PacketBuffer, key: Key128, counter: UInt32) {
        self.counter = counter
        // The counter follows the message. AES-CMAC expects the most significant octet first, which on the air comes
        // last.
        let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
        code = AESCMAC.code(for: number + message.reversed(), key: key).high
    }

    /// Parses a signature; nil unless there are ``length`` octets.
    init?(_ octets: PacketBuffer) {
        guard octets.count == Self.length else { return nil }
        counter = octets.prefix(upTo: 4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        code = octets.suffix(after: 4).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The octets in wire order.
    var octets: PacketBuffer {
        var octets = PacketBuffer(capacity: Self.length)
        octets.append(integer: counter)
        octets.append(integer: code)
        return octets
    }
}

extension PeerKeys {
    /// Signs `message` with the next counter; nil without a key, or when all counters are used up.
    mutating func sign(_ message: PacketBuffer) -> PacketBuffer? {
        guard let key = localSigningKey, localSignCounter < .max else { return nil }
        let signature = Signature(of: message, key: key, counter: localSignCounter)
        localSignCounter += 1
        return signature.octets
    }

    /// Verifies a signature of the peer, and that its counter is new: a signature recorded on the air must not be valid
    /// again.
    mutating func verify(_ message: PacketBuffer, signature octets: PacketBuffer) -> Bool {
        guard let key = peerSigningKey, let signature = Signature(octets),
            signature.counter >= peerSignCounter, signature.counter < .max,
            signature == Signature(of: message, key: key, counter: signature.counter)
        else { return false }
        peerSignCounter = signature.counter + 1
        return true
    }
}

import BluetoothTypes
import Cryptography

/// A signature under a message: a number that never comes twice, and a code over both (Core Vol 3 Part H 2.4.5).
struct Signature: Equatable {
    /// Octets of a signature.
    static let length = 12

    let counter: UInt32
    /// The more significant half of the code.
    let code: UInt64

    init(of message: PacketBuffer, key: Key128, counter: UInt32) {
        self.counter = counter
        // The number stands behind the message; the function takes the most significant octet first, which on the air
        // is the last.
        let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
        code = AESCMAC.code(for: number + message.reversed(), key: key).high
    }

    /// Nil for another number of octets than ``length``.
    init?(_ octets: PacketBuffer) {
        guard octets.count == Self.length else { return nil }
        counter = octets.prefix(upTo: 4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        code = octets.suffix(after: 4).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The octets on the air.
    var octets: PacketBuffer {
        var octets = PacketBuffer(capacity: Self.length)
        octets.append(integer: counter)
        octets.append(integer: code)
        return octets
    }
}

extension PeerKeys {
    /// The signature under `message`, with the next number; nil without a key, or when all numbers are used up.
    mutating func sign(_ message: PacketBuffer) -> PacketBuffer? {
        guard let key = localSigningKey, localSignCounter < .max else { return nil }
        let signature = Signature(of: message, key: key, counter: localSignCounter)
        localSignCounter += 1
        return signature.octets
    }

    /// Whether the peer has signed `message`, and with a number that has not come before: one that was heard on the air is
    /// worth nothing the second time.
    mutating func verify(_ message: PacketBuffer, signature octets: PacketBuffer) -> Bool {
        guard let key = peerSigningKey, let signature = Signature(octets),
            signature.counter >= peerSignCounter, signature.counter < .max,
            signature == Signature(of: message, key: key, counter: signature.counter)
        else { return false }
        peerSignCounter = signature.counter + 1
        return true
    }
}

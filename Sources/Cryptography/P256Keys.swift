import Crypto

/// A point on the curve P-256 that a peer has sent: the two halves as they are, checked when they are used.
package struct P256Point: Hashable, Sendable {
    /// The x coordinate: 32 octets, the most significant first.
    package let x: [UInt8]
    /// The y coordinate: 32 octets, the most significant first.
    package let y: [UInt8]

    /// From two coordinates of 32 octets, the most significant first; nil for other lengths.
    package init?(x: some Collection<UInt8>, y: some Collection<UInt8>) {
        guard x.count == 32, y.count == 32 else { return nil }
        self.x = Array(x)
        self.y = Array(y)
    }

    /// Whether this is the public key whose private key is in the specification (Core Vol 3 Part H 2.3.5.6.1): whoever
    /// reads it can listen (AB-S03).
    package var isDebugKey: Bool { self == P256KeyPair.debug.publicKey }
}

/// A key pair on the curve P-256 (Core Vol 3 Part H 2.3.5.6.1).
package struct P256KeyPair: Sendable, CustomStringConvertible {
    private let privateKey: P256.KeyAgreement.PrivateKey
    /// What the peer gets.
    package let publicKey: P256Point

    /// From the 32 octets of a private key, the most significant first; nil when they are not one.
    package init?(privateKey bytes: [UInt8]) {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes) else { return nil }
        let raw = Array(key.publicKey.rawRepresentation)
        guard let point = P256Point(x: raw.prefix(32), y: raw.suffix(32)) else { return nil }
        privateKey = key
        publicKey = point
    }

    /// A new pair, from a source of random octets, so that virtual worlds have the same keys for the same seed. Nil when
    /// the source gives no private key however often it is asked: it is broken (AB-H07).
    package init?(random: (Int) -> [UInt8]) {
        // One draw fails with a chance of 2^-32.
        for _ in 0..<16 {
            guard let pair = P256KeyPair(privateKey: random(32)) else { continue }
            self = pair
            return
        }
        return nil
    }

    /// What both sides share: the x coordinate, 32 octets, the most significant first. Nil when `peer` is not a point on
    /// the curve (AB-S01, CVE-2018-5383).
    package func sharedSecret(with peer: P256Point) -> [UInt8]? {
        guard let key = try? P256.KeyAgreement.PublicKey(rawRepresentation: peer.x + peer.y) else { return nil }
        return try? privateKey.sharedSecretFromKeyAgreement(with: key).withUnsafeBytes { [UInt8]($0) }
    }

    /// The pair that the specification prints, for sniffers.
    package static let debug: P256KeyPair = {
        let key: [UInt8] = [
            0x3F, 0x49, 0xF6, 0xD4, 0xA3, 0xC5, 0x5F, 0x38, 0x74, 0xC9, 0xB3, 0xE3, 0xD2, 0x10, 0x3F, 0x50,
            0x4A, 0xFF, 0x60, 0x7B, 0xEB, 0x40, 0xB7, 0x99, 0x58, 0x99, 0xB8, 0xA6, 0xCD, 0x3C, 0x1A, 0xBD,
        ]
        guard let pair = P256KeyPair(privateKey: key) else { preconditionFailure("the debug key is a private key") }
        return pair
    }()

    /// Only the public half.
    package var description: String { "P-256 key pair" }
}

/// A P-256 public key as received from a peer. The coordinates are not validated until they are used.
package struct P256Point: Hashable, Sendable {
    /// The length of a coordinate, in octets.
    static let coordinateLength = 32

    /// The x coordinate: 32 octets, most significant first.
    package let x: [UInt8]
    /// The y coordinate: 32 octets, most significant first.
    package let y: [UInt8]

    /// Creates a point from two 32-octet coordinates, most significant octet first. Returns nil for any other length.
    package init?(x: some Collection<UInt8>, y: some Collection<UInt8>) {
        guard x.count == Self.coordinateLength, y.count == Self.coordinateLength else { return nil }
        self.x = Array(x)
        self.y = Array(y)
    }

    /// Creates a point from both coordinates, x first. Returns nil for any other length than 64 octets.
    init?(_ octets: [UInt8]) {
        guard octets.count == 2 * Self.coordinateLength else { return nil }
        self.init(x: octets.prefix(Self.coordinateLength), y: octets.suffix(Self.coordinateLength))
    }

    /// Whether this is the debug public key. The specification publishes its private key (Core Vol 3 Part H 2.3.5.6.1),
    /// so anyone can decrypt the link (AB-S03).
    package var isDebugKey: Bool { self == P256KeyPair.debug.publicKey }
}

/// A P-256 key pair (Core Vol 3 Part H 2.3.5.6.1).
package struct P256KeyPair: Sendable, CustomStringConvertible {
    private let privateKey: any P256PrivateKey
    package let publicKey: P256Point

    /// Creates a pair from a 32-octet private key, most significant octet first. Returns nil for an invalid private
    /// key.
    package init?(
        privateKey bytes: [UInt8],
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) {
        guard let key = provider.privateKey(bytes), let point = key.point else { return nil }
        privateKey = key
        publicKey = point
    }

    /// Generates a key pair from `random`, so that a virtual world with the same seed has the same keys.
    ///
    /// Returns nil when `random` yields no valid private key in 16 attempts, which means that the source is broken
    /// (AB-H07).
    package init?(random: (Int) -> [UInt8]) {
        // The probability that one attempt fails is 2^-32.
        for _ in 0..<16 {
            guard let pair = P256KeyPair(privateKey: random(32)) else { continue }
            self = pair
            return
        }
        return nil
    }

    /// Returns the shared secret (DHKey): the x coordinate as 32 octets, most significant first. Returns nil when
    /// `peer` is not on the curve (AB-S01, CVE-2018-5383).
    package func sharedSecret(with peer: P256Point) -> [UInt8]? {
        privateKey.sharedSecret(with: peer)
    }

    /// The debug key pair that the specification publishes for sniffers.
    package static let debug: P256KeyPair = {
        let key: [UInt8] = [
            0x3F, 0x49, 0xF6, 0xD4, 0xA3, 0xC5, 0x5F, 0x38, 0x74, 0xC9, 0xB3, 0xE3, 0xD2, 0x10, 0x3F, 0x50,
            0x4A, 0xFF, 0x60, 0x7B, 0xEB, 0x40, 0xB7, 0x99, 0x58, 0x99, 0xB8, 0xA6, 0xCD, 0x3C, 0x1A, 0xBD,
        ]
        guard let pair = P256KeyPair(privateKey: key) else { preconditionFailure("the debug private key is invalid") }
        return pair
    }()

    /// A constant, so that the private key never reaches logs.
    package var description: String { "P-256 key pair" }
}

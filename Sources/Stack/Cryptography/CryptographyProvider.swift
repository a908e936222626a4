/// Computes the cryptographic primitives. All other code of this module, and above it, is independent of the provider.
package protocol CryptographyProvider: Sendable {
    var name: String { get }

    /// Returns AES-128 under `key` for single blocks.
    func blockCipher(_ key: Key128) -> any BlockCipher
    /// Returns AES-128 under `key` for messages.
    func messageCipher(_ key: Key128) -> any MessageCipher
    /// Returns the AES-CMAC of `message` (RFC 4493).
    func messageCode(of message: [UInt8], key: Key128) -> Block128
    /// Returns the P-256 private key of 32 octets, most significant first; nil if the number is not between 1 and the
    /// order of the curve.
    func privateKey(_ octets: [UInt8]) -> (any P256PrivateKey)?
    func digest(of octets: UnsafeRawBufferPointer) -> [UInt8]
    /// Returns the HMAC of `message` with SHA-256 (RFC 2104).
    func authenticationCode(of message: [UInt8], key: [UInt8]) -> [UInt8]
}

/// AES-128 with an expanded key, for single blocks.
package protocol BlockCipher: Sendable {
    func encrypt(_ block: Block128) -> Block128
}

/// AES-128 with an expanded key, in the two modes that make up CCM.
package protocol MessageCipher: Sendable {
    /// Encrypts whole blocks in CBC mode with an initialization vector of zeroes, and returns the last block.
    func chain(_ blocks: [UInt8]) -> Block128
    /// Encrypts in CTR mode, with a key stream that begins at the counter block `first`.
    ///
    /// - Parameter spareCapacity: The number of octets that the caller will append to the result.
    /// - Returns: A block of zeroes, encrypted with the first block of the key stream, and `octets`, encrypted with
    ///   those after it.
    func stream(
        from first: Block128,
        _ octets: [UInt8],
        spareCapacity: Int
    ) -> (mask: Block128, octets: [UInt8])
}

/// A private key on P-256. It is cleared when the last reference goes.
package protocol P256PrivateKey: Sendable {
    /// The public key; nil if the library fails.
    var point: P256Point? { get }
    /// Returns the x coordinate of the shared point, 32 octets; nil if `peer` is not on the curve.
    func sharedSecret(with peer: P256Point) -> [UInt8]?
}

/// The providers of this build.
package enum CryptographyProviders {
    /// The provider for everything. Loads it on first use, and ends the program if that fails; see ``require()``.
    package static let standard: any CryptographyProvider = {
        do throws(CryptographyUnavailable) {
            return try loaded.get()
        } catch {
            fatalError("\(error)")
        }
    }()

    /// Checks that the standard provider works. A program that will need it calls this first, because it can still
    /// report the error.
    package static func require() throws(CryptographyUnavailable) { _ = try loaded.get() }

    private static let loaded = Result<any CryptographyProvider, CryptographyUnavailable> {
        () throws(CryptographyUnavailable) in
        #if SwiftCrypto
            SwiftCryptoProvider()
        #else
            try LibcryptoProvider()
        #endif
    }
}

/// The system's cryptography library does not load.
package struct CryptographyUnavailable: Error, Hashable, CustomStringConvertible {
    package let library: String
    /// The explanation of the dynamic linker, or the function that the library lacks.
    package let reason: String

    package var description: String {
        """
        Bluetooth needs the cryptography of OpenSSL 3, which does not load (\(library): \(reason)). Install it, on Debian \
        and Ubuntu with `apt-get install libssl3`, or build with the package trait SwiftCrypto, which compiles \
        swift-crypto into the program instead.
        """
    }
}

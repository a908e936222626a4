/// AES-128 as a single-block cipher: the security function e (Core Vol 3 Part H 2.2.1).
package struct AES128: Sendable {
    private let cipher: any BlockCipher

    package init(_ key: Key128, with provider: any CryptographyProvider = CryptographyProviders.standard) {
        cipher = provider.blockCipher(key)
    }

    package func encrypt(_ block: Block128) -> Block128 { cipher.encrypt(block) }
}

/// AES-CMAC (RFC 4493), the basis of LE Secure Connections and of the database hash (Core Vol 3 Part H 2.2.5).
package enum AESCMAC {
    /// Returns the full 128-bit authentication code of `message`, most significant octet first.
    package static func code(
        for message: [UInt8],
        key: Key128,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Block128 {
        provider.messageCode(of: message, key: key)
    }
}

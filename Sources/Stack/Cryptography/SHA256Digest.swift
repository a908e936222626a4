/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// The length of a digest, in octets.
    package static let count = 32

    package static func of(
        _ octets: [UInt8],
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> [UInt8] {
        octets.withUnsafeBytes { of($0, with: provider) }
    }

    /// Returns the digest of the octets of a buffer, such as a mapped file.
    package static func of(
        _ octets: UnsafeRawBufferPointer,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> [UInt8] {
        provider.digest(of: octets)
    }
}

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// Returns the authentication code of `message`, ``SHA256Digest/count`` octets.
    package static func code(
        for message: [UInt8],
        key: [UInt8],
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> [UInt8] {
        provider.authenticationCode(of: message, key: key)
    }

    /// Whether `code` is the authentication code of `message`. The comparison takes constant time.
    package static func isCode(
        _ code: [UInt8],
        for message: [UInt8],
        key: [UInt8],
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Bool {
        code.isEqualInConstantTime(to: provider.authenticationCode(of: message, key: key))
    }
}

extension Collection<UInt8> {
    /// Whether both have the same octets. Examines every octet, so timing reveals nothing about a forged code but its
    /// length.
    func isEqualInConstantTime(to other: some Collection<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(self, other) { difference |= a ^ b }
        return difference == 0
    }
}

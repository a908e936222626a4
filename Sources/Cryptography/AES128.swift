import Crypto
import CryptoExtras

/// AES-128 as a single-block cipher: the security function e (Core Vol 3 Part H 2.2.1).
package struct AES128: Sendable {
    private let key: SymmetricKey

    package init(_ key: Key128) {
        self.key = SymmetricKey(data: key.bytes)
    }

    /// Encrypts one block: the security function e (Core Vol 3 Part H 2.2.1).
    package func encrypt(_ block: Block128) -> Block128 {
        var bytes = block.bytes
        do {
            try AES.permute(&bytes, key: key)
        } catch {
            // The library throws only for a wrong key or block length. The types guarantee 16 octets for both.
            preconditionFailure("AES refused a block of 16 octets: \(error)")
        }
        return Block128(padding: bytes)
    }
}

/// AES-CMAC (RFC 4493), the basis of LE Secure Connections and of the database hash (Core Vol 3 Part H 2.2.5).
package enum AESCMAC {
    /// Returns the full 128-bit authentication code of `message`, most significant octet first.
    package static func code(for message: [UInt8], key: Key128) -> Block128 {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.bytes))
            code.update(data: message)
            return code.finalize().withUnsafeBytes { Block128(padding: $0) }
        } catch {
            // The library throws only for a wrong key length. The type guarantees 16 octets.
            preconditionFailure("AES-CMAC refused a key of 16 octets: \(error)")
        }
    }
}

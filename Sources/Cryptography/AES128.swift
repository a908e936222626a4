import Crypto
import CryptoExtras

/// AES with a key of 128 bits, one block at a time: the security function e of the specification (Core Vol 3 Part H 2.2.1).
package struct AES128: Sendable {
    private let key: SymmetricKey

    /// The cipher under `key`.
    package init(_ key: Key128) {
        self.key = SymmetricKey(data: key.bytes)
    }

    /// The block, encrypted.
    package func encrypt(_ block: Block128) -> Block128 {
        var bytes = block.bytes
        do {
            try AES.permute(&bytes, key: key)
        } catch {
            // The library refuses other lengths of key and block only, and both are 16 octets by their types.
            preconditionFailure("AES refused a block of 16 octets: \(error)")
        }
        return Block128(padding: bytes)
    }
}

/// AES-CMAC (RFC 4493), on which LE Secure Connections and the database hash are built (Core Vol 3 Part H 2.2.5).
package enum AESCMAC {
    /// The whole code of 128 bits for `message`, the most significant octet first.
    package static func code(for message: [UInt8], key: Key128) -> Block128 {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.bytes))
            code.update(data: message)
            return code.finalize().withUnsafeBytes { Block128(padding: $0) }
        } catch {
            // The library refuses other lengths of key only, and this is 16 octets by its type.
            preconditionFailure("AES-CMAC refused a key of 16 octets: \(error)")
        }
    }
}

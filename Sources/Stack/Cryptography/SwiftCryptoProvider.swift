#if SwiftCrypto
    import Crypto
    import CryptoExtras

    /// swift-crypto: BoringSSL, compiled into the program.
    struct SwiftCryptoProvider: CryptographyProvider {
        var name: String { "swift-crypto" }

        func blockCipher(_ key: Key128) -> any BlockCipher { SwiftCryptoBlocks(key: SymmetricKey(key)) }

        func messageCipher(_ key: Key128) -> any MessageCipher { SwiftCryptoMessages(key: SymmetricKey(key)) }

        func messageCode(of message: [UInt8], key: Key128) -> Block128 {
            do {
                var code = try AES.CMAC(key: SymmetricKey(key))
                code.update(data: message)
                return code.finalize().withUnsafeBytes { Block128(padding: $0) }
            } catch {
                // The library throws only for a wrong key length. The type guarantees 16 octets.
                preconditionFailure("AES-CMAC refused a key of 16 octets: \(error)")
            }
        }

        func privateKey(_ octets: [UInt8]) -> (any P256PrivateKey)? {
            guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: octets) else { return nil }
            return SwiftCryptoPrivateKey(key: key)
        }

        func digest(of octets: UnsafeRawBufferPointer) -> [UInt8] {
            var hash = SHA256()
            hash.update(bufferPointer: octets)
            return Array(hash.finalize())
        }

        func authenticationCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        }
    }

    private struct SwiftCryptoBlocks: BlockCipher {
        let key: SymmetricKey

        func encrypt(_ block: Block128) -> Block128 {
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

    /// A call of the library for each message, whatever its length, because a key schedule is more expensive than a
    /// block.
    private struct SwiftCryptoMessages: MessageCipher {
        let key: SymmetricKey

        func chain(_ blocks: [UInt8]) -> Block128 {
            do {
                let zero = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Block128.length))
                let output = try AES._CBC.encrypt(blocks, using: key, iv: zero, noPadding: true)
                return Block128(padding: output.suffix(Block128.length))
            } catch {
                // The library throws only for a wrong key, IV or input length. The input is whole blocks.
                preconditionFailure("AES-CBC refused whole blocks: \(error)")
            }
        }

        func stream(
            from first: Block128,
            _ octets: [UInt8],
            spareCapacity: Int
        ) -> (mask: Block128, octets: [UInt8]) {
            var input = [UInt8](repeating: 0, count: Block128.length)
            input.reserveCapacity(Block128.length + octets.count)
            input += octets
            do {
                let nonce = try AES._CTR.Nonce(nonceBytes: first.bytes)
                let output = try AES._CTR.encrypt(input, using: key, nonce: nonce)
                var result: [UInt8] = []
                result.reserveCapacity(octets.count + spareCapacity)
                result += output.dropFirst(Block128.length)
                return (Block128(padding: output.prefix(Block128.length)), result)
            } catch {
                // The library throws only for a wrong key or nonce length.
                preconditionFailure("AES-CTR refused a block of 16 octets: \(error)")
            }
        }
    }

    private struct SwiftCryptoPrivateKey: P256PrivateKey {
        let key: P256.KeyAgreement.PrivateKey

        var point: P256Point? { P256Point(Array(key.publicKey.rawRepresentation)) }

        func sharedSecret(with peer: P256Point) -> [UInt8]? {
            guard let peer = try? P256.KeyAgreement.PublicKey(rawRepresentation: peer.x + peer.y) else { return nil }
            return try? key.sharedSecretFromKeyAgreement(with: peer).withUnsafeBytes { [UInt8]($0) }
        }
    }

    extension SymmetricKey {
        fileprivate init(_ key: Key128) { self.init(data: key.bytes) }
    }
#endif

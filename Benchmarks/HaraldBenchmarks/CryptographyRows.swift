import Cryptography

/// The cryptography of packets, addresses and pairing, with the provider of this build.
extension HaraldBenchmarks {
    static func cryptography() {
        let (key, nonce) = (Key128(Block128(high: 1, low: 2)), [UInt8](repeating: 3, count: CCM.nonceLength))
        let ccm = CCM(key)
        let payload = [UInt8](repeating: 0x55, count: 247)
        let sealed = ccm.encrypt(payload, nonce: nonce, header: 2)
        var checksum = 0
        each("encrypt a payload of 247 octets", 100_000) {
            checksum &+= ccm.encrypt(payload, nonce: nonce, header: 2).count
        }
        each("decrypt a payload of 247 octets", 100_000) {
            checksum &+= ccm.decrypt(sealed, nonce: nonce, header: 2)?.count ?? 0
        }
        each("resolve a private address with one key", 100_000) { checksum &+= Int(Toolbox.ah(key, 0x70_8194)) }
        each("authenticate 65 octets, as in pairing", 100_000) {
            checksum &+= Int(AESCMAC.code(for: Array(payload.prefix(65)), key: key)[0])
        }
        let pair = P256KeyPair.debug
        each("generate a key pair", 1_000) {
            checksum &+= P256KeyPair(privateKey: nonce + nonce + nonce.prefix(6))?.publicKey.x.count ?? 0
        }
        each("compute a shared secret", 1_000) {
            checksum &+= pair.sharedSecret(with: pair.publicKey)?.count ?? 0
        }
        precondition(checksum != 0)
    }

    private static func each(_ what: String, _ count: Int, _ body: () -> Void) {
        let measurement = Measurement { for _ in 0..<count { body() } }
        row("\(what), \(CryptographyProviders.standard.name)", count, measurement, nanoseconds)
    }
}

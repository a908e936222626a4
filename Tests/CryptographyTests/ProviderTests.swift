import EventLoops
import Foundation
import Synchronization
import Testing

@testable import Cryptography

/// The behaviour of providers apart from the values that they compute.
@Suite struct ProviderTests {
    @Test("the tests use all providers that the script which runs them expects, and the standard one is the last")
    func theTestedProviders() {
        let names = TestedProvider.allCases.map(\.rawValue)
        let expected = ProcessInfo.processInfo.environment["HARALD_PROVIDERS"] ?? names.joined(separator: " ")
        #expect(names.joined(separator: " ") == expected)
        #expect(CryptographyProviders.standard.name == names.last)
    }

    @Test(arguments: TestedProvider.allCases)
    func a_provider_has_its_name(tested: TestedProvider) throws {
        #expect(try tested.make().name == tested.rawValue)
        try CryptographyProviders.require()
    }

    @Test("a library that does not load gives an error with the package and the trait")
    func aMissingLibrary() throws {
        let error = try #require(throws: CryptographyUnavailable.self) {
            try LibcryptoProvider(fileName: "libharald-missing.so.3")
        }
        #expect(error.library == "libharald-missing.so.3")
        #expect(error.reason == "cannot open shared object file: No such file or directory")
        #expect("\(error)".contains("libssl3") && "\(error)".contains("SwiftCrypto"))
    }

    @Test("a library that lacks a function gives an error with its name, and the other one still works")
    func aWrongLibrary() throws {
        let error = try #require(throws: CryptographyUnavailable.self) { try LibcryptoProvider(fileName: "libm.so.6") }
        #expect(error.reason == "it has no function OPENSSL_init_crypto")
        #expect(SHA256Digest.of([], with: try LibcryptoProvider()).first == 0xE3)
    }

    @Test(arguments: TestedProvider.allCases)
    func private_keys_are_checked(tested: TestedProvider) throws {
        let provider = try tested.make()
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let last = Array(order.dropLast()) + [0x50]
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let zero = [UInt8](repeating: 0, count: 32)
        let invalid: [[UInt8]] = [[], [1], Array(one.dropFirst()), [0] + one, zero, order]
        for key in invalid {
            #expect(P256KeyPair(privateKey: key, with: provider) == nil)
        }
        // The generator (SEC 2 2.4.2), and its negative: the same x coordinate.
        let x = hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
        let pairs = try [one, last].map { try #require(P256KeyPair(privateKey: $0, with: provider)) }
        #expect(pairs[0].publicKey.x == x && pairs[1].publicKey.x == x)
        #expect(pairs[0].publicKey.y != pairs[1].publicKey.y)
        #expect(pairs[1].sharedSecret(with: pairs[0].publicKey) == x)
    }

    @Test("threads share ciphers and keys", arguments: TestedProvider.allCases)
    func threadsShareKeys(tested: TestedProvider) throws {
        let provider = try tested.make()
        let secret = key("99ad1b5226a37e3e058e3b8e27c2c666")
        let (ccm, cipher) = (CCM(secret, with: provider), AES128(secret, with: provider))
        let pair = try #require(P256KeyPair(privateKey: [UInt8](repeating: 7, count: 32), with: provider))
        let nonce = [UInt8](repeating: 3, count: CCM.nonceLength)
        let work: @Sendable (Int) -> [[UInt8]] = { index in
            let payload = [UInt8](repeating: UInt8(index), count: 5 * index)
            let sealed = ccm.encrypt(payload, nonce: nonce, header: 2)
            return [
                sealed, ccm.decrypt(sealed, nonce: nonce, header: 2) ?? [0xFF],
                cipher.encrypt(Block128(high: 0, low: UInt64(index))).bytes,
                AESCMAC.code(for: payload, key: secret, with: provider).bytes,
                HMACSHA256.code(for: payload, key: nonce, with: provider),
                pair.sharedSecret(with: pair.publicKey) ?? [],
            ]
        }
        let alone = (0..<32).map(work)
        let results = Mutex([[[UInt8]]](repeating: [], count: 32))
        DispatchQueue.concurrentPerform(iterations: 320) { iteration in
            let result = work(iteration % 32)
            results.withLock { $0[iteration % 32] = result }
        }
        #expect(results.withLock { $0 } == alone)
    }

    #if SwiftCrypto
        @Test("both providers compute the same of random octets", arguments: 0..<50 as Range<UInt64>)
        func bothAgree(seed: UInt64) throws {
            let results = try TestedProvider.allCases.map { try compute(with: $0.make(), RandomSource(seed: seed)) }
            #expect(results[0] == results[1])
        }

        private func compute(
            with provider: any CryptographyProvider,
            _ random: RandomSource
        ) throws -> [[UInt8]] {
            let secret = try #require(Key128(random.bytes(16)))
            let message = random.bytes(Int(random.bytes(1)[0]))
            let nonce = random.bytes(CCM.nonceLength)
            let pairs = try (0..<2).map { _ in
                try #require(P256KeyPair(privateKey: random.bytes(32), with: provider))
            }
            let sealed = CCM(secret, with: provider).encrypt(message, nonce: nonce, header: message.first ?? 0)
            return [
                sealed, AES128(secret, with: provider).encrypt(.zero).bytes,
                AESCMAC.code(for: message, key: secret, with: provider).bytes,
                SHA256Digest.of(message, with: provider), HMACSHA256.code(for: message, key: nonce, with: provider),
                pairs[0].publicKey.x + pairs[0].publicKey.y,
                try #require(pairs[0].sharedSecret(with: pairs[1].publicKey)),
            ]
        }
    #endif
}

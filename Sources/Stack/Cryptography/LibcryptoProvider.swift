import CLibcrypto
import Synchronization

/// libcrypto of OpenSSL 3: the system's, which the distribution keeps secure, loaded at run time.
///
/// On x86-64 and arm64, secrets determine neither branches nor addresses. AES uses the processor's instructions, or
/// vector permutations. Multiplication on P-256 reads whole tables, with `ecp_nistz256_gather_w5` and
/// `ecp_nistz256_gather_w7` (crypto/ec/ecp_nistz256.c of OpenSSL). On other processors it is a Montgomery ladder with
/// conditional swaps, `ossl_ec_scalar_mul_ladder` (crypto/ec/ec_mult.c).
struct LibcryptoProvider: CryptographyProvider {
    /// The name of the library in all releases of OpenSSL 3.
    static let fileName = "libcrypto.so.3"

    init(fileName: String = Self.fileName) throws(CryptographyUnavailable) {
        var reason = [CChar](repeating: 0, count: 256)
        let isLoaded = harald_libcrypto_load(fileName, &reason, reason.count) == 1
        guard isLoaded else {
            // The linker's explanation begins with the name.
            var text = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.hasPrefix(fileName + ": ") { text.removeFirst(fileName.count + 2) }
            throw CryptographyUnavailable(library: fileName, reason: text)
        }
    }

    var name: String { "libcrypto" }

    func blockCipher(_ key: Key128) -> any BlockCipher { LibcryptoBlocks(key) }

    func messageCipher(_ key: Key128) -> any MessageCipher { LibcryptoMessages(key) }

    func messageCode(of message: [UInt8], key: Key128) -> Block128 {
        var code = harald_block()
        Self.check(harald_aes_cmac(harald_block(key.block), message, message.count, &code))
        return Block128(code)
    }

    func privateKey(_ octets: [UInt8]) -> (any P256PrivateKey)? { LibcryptoPrivateKey(octets) }

    func digest(of octets: UnsafeRawBufferPointer) -> [UInt8] {
        Self.octets(SHA256Digest.count) { harald_sha256(octets.baseAddress, octets.count, $0) }
    }

    func authenticationCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        Self.octets(SHA256Digest.count) { harald_hmac_sha256(key, key.count, message, message.count, $0) }
    }

    /// Ends the program if the library fails. Lengths are always right, so this means that memory is exhausted.
    fileprivate static func check(_ result: Int32) {
        guard result == 1 else { fatalError("libcrypto failed; probably the memory is exhausted") }
    }

    fileprivate static func check<Value>(_ result: Value?) -> Value {
        guard let result else { fatalError("libcrypto failed; probably the memory is exhausted") }
        return result
    }

    private static func octets(_ count: Int, _ body: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            check(body(buffer.baseAddress))
            written = count
        }
    }
}

/// An expanded AES key. The library clears it when it is freed.
private final class LibcryptoKey: Sendable {
    /// Only one thread at a time may use the library's object.
    private let context: Mutex<OpaquePointer>

    init(_ mode: harald_mode, _ key: Key128) {
        context = Mutex(LibcryptoProvider.check(harald_aes_create(mode, harald_block(key.block))))
    }

    deinit { context.withLock { harald_aes_free($0) } }

    func use(_ body: (OpaquePointer) -> Int32) {
        LibcryptoProvider.check(context.withLock { body($0) })
    }
}

private struct LibcryptoBlocks: BlockCipher {
    private let key: LibcryptoKey

    init(_ key: Key128) { self.key = LibcryptoKey(harald_mode_ecb, key) }

    func encrypt(_ block: Block128) -> Block128 {
        var block = harald_block(block)
        key.use { harald_aes_encrypt($0, &block) }
        return Block128(block)
    }
}

private struct LibcryptoMessages: MessageCipher {
    private let chain: LibcryptoKey
    private let stream: LibcryptoKey

    init(_ key: Key128) {
        chain = LibcryptoKey(harald_mode_cbc, key)
        stream = LibcryptoKey(harald_mode_ctr, key)
    }

    func chain(_ blocks: [UInt8]) -> Block128 {
        var last = harald_block()
        chain.use { harald_aes_chain($0, blocks, blocks.count, &last) }
        return Block128(last)
    }

    func stream(
        from first: Block128,
        _ octets: [UInt8],
        spareCapacity: Int
    ) -> (mask: Block128, octets: [UInt8]) {
        var mask = harald_block()
        let capacity = octets.count + spareCapacity
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
            stream.use {
                harald_aes_stream($0, harald_block(first), &mask, octets, octets.count, buffer.baseAddress)
            }
            written = octets.count
        }
        return (Block128(mask), output)
    }
}

private final class LibcryptoPrivateKey: P256PrivateKey {
    private let key: Mutex<OpaquePointer>

    init?(_ octets: [UInt8]) {
        guard octets.count == P256Point.coordinateLength, let key = harald_p256_create(octets) else { return nil }
        self.key = Mutex(key)
    }

    deinit { key.withLock { harald_p256_free($0) } }

    var point: P256Point? {
        var octets = [UInt8](repeating: 0, count: 2 * P256Point.coordinateLength)
        guard key.withLock({ harald_p256_public($0, &octets) }) == 1 else { return nil }
        return P256Point(octets)
    }

    func sharedSecret(with peer: P256Point) -> [UInt8]? {
        var secret = [UInt8](repeating: 0, count: P256Point.coordinateLength)
        guard key.withLock({ harald_p256_agree($0, peer.x + peer.y, &secret) }) == 1 else { return nil }
        return secret
    }
}

extension harald_block {
    fileprivate init(_ block: Block128) { self.init(high: block.high, low: block.low) }
}

extension Block128 {
    fileprivate init(_ block: harald_block) { self.init(high: block.high, low: block.low) }
}

import Foundation
import Testing

@testable import Cryptography

/// The vectors of Project Wycheproof and NIST in Vectors.txt. They include forged codes, points off the curve, and
/// products with unusual intermediate values.
@Suite struct VectorTests {
    @Test(
        "Wycheproof, AB-S01: shared secrets on P-256, and none with invalid points",
        arguments: TestedProvider.allCases
    )
    func sharedSecrets(tested: TestedProvider) throws {
        let provider = try tested.make()
        let vectors = try Vector.section("ecdh", count: 349)
        for vector in vectors {
            let pair = try #require(P256KeyPair(privateKey: vector[0], with: provider), "\(vector)")
            let secret = P256Point(vector[1]).flatMap { pair.sharedSecret(with: $0) }
            #expect(secret == (vector.isValid ? vector[2] : nil), "\(vector)")
        }
        #expect(vectors.count { !$0.isValid } == 19)
    }

    @Test("Wycheproof: AES-CMAC, and no forged code", arguments: TestedProvider.allCases)
    func messageCodes(tested: TestedProvider) throws {
        let provider = try tested.make()
        for vector in try Vector.section("cmac", count: 102) {
            let key = try #require(Key128(vector[0]))
            let code = AESCMAC.code(for: vector[1], key: key, with: provider)
            #expect((code.bytes == vector[2]) == vector.isValid, "\(vector)")
        }
    }

    @Test("Wycheproof: HMAC with SHA-256, and no forged code", arguments: TestedProvider.allCases)
    func authenticationCodes(tested: TestedProvider) throws {
        let provider = try tested.make()
        for vector in try Vector.section("hmac", count: 87) {
            let isCode = HMACSHA256.isCode(vector[2], for: vector[1], key: vector[0], with: provider)
            #expect(isCode == vector.isValid, "\(vector)")
        }
    }

    @Test(
        "Wycheproof and NIST: AES-CCM seals, opens, and opens no forged message",
        arguments: TestedProvider.allCases,
        [("ccm", 6), ("ccm-nist", 120)]
    )
    func sealedMessages(tested: TestedProvider, section: (name: String, count: Int)) throws {
        let provider = try tested.make()
        for vector in try Vector.section(section.name, count: section.count) {
            let ccm = CCM(try #require(Key128(vector[0])), codeLength: vector.number, with: provider)
            let (nonce, data, message, sealed) = (vector[1], vector[2], vector[3], vector[4])
            let opened = ccm.decrypt(sealed, nonce: nonce, authenticating: data)
            #expect(opened == (vector.isValid ? message : nil), "\(vector)")
            guard vector.isValid else { continue }
            #expect(ccm.encrypt(message, nonce: nonce, authenticating: data) == sealed, "\(vector)")
        }
    }

    @Test("FIPS 180-4: SHA-256 of short and long messages", arguments: TestedProvider.allCases)
    func digests(tested: TestedProvider) throws {
        let provider = try tested.make()
        let expected = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            String(repeating: "a", count: 1_000_000):
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        ]
        for (message, digest) in expected {
            #expect(SHA256Digest.of(Array(message.utf8), with: provider) == hex(digest), "\(message.count) letters")
        }
    }
}

/// A line of Vectors.txt.
private struct Vector: CustomStringConvertible {
    /// The name of the section and the number of the vector, for messages.
    let description: String
    let isValid: Bool
    /// The number before the octets, if there is one.
    let number: Int
    private let values: [[UInt8]]

    init(_ line: Substring, in section: String) {
        let words = line.split(separator: " ")
        description = "\(section) \(words[0])"
        isValid = words[1] == "valid"
        number = section.hasPrefix("ccm") ? Int(words[2]) ?? 0 : 0
        values = words.dropFirst(section.hasPrefix("ccm") ? 3 : 2).map { $0 == "-" ? [] : hex(String($0)) }
    }

    subscript(index: Int) -> [UInt8] { values[index] }

    /// Returns the vectors of a section, whose number must be right.
    static func section(_ name: String, count: Int) throws -> [Vector] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors.txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let begin = try #require(lines.firstIndex { $0.hasPrefix("[\(name)]") })
        let vectors = lines[(begin + 1)...].prefix { !$0.hasPrefix("[") }.map { Vector($0, in: name) }
        try #require(vectors.count == count)
        return vectors
    }
}

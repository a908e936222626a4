import BluetoothTypes
import Testing

@testable import Cryptography

/// The specification's sample data, Core Vol 3 Part H Appendix D and 2.3.5.6.1, Vol 6 Part C 1, and of RFC 4493.
@Suite struct SampleDataTests {
    static let u = hex("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    static let v = hex("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    static let secret = hex("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    static let n1 = block("d5cb8454d177733effffb2ec712baeab")
    static let n2 = block("a6e8e7cc25a75f6e216583f7ff3dc4cf")
    static let a1 = BluetoothAddress(0x5612_3737_BFCE, kind: .publicDevice)
    static let a2 = BluetoothAddress(0xA713_702D_CFC1, kind: .publicDevice)
    static let w = key("ec0234a357c8ad05341010a60a397d9b")

    @Test(arguments: [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ])
    func cmac_gives_the_codes_of_its_standard(length: Int, expected: String) {
        let message = hex(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
        )
        let code = AESCMAC.code(for: Array(message.prefix(length)), key: key("2b7e151628aed2a6abf7158809cf4f3c"))
        #expect(code == block(expected))
    }

    @Test func c1_gives_the_confirm_value_of_legacy_pairing() {
        let confirm = Toolbox.c1(
            .zero,
            random: block("5783d52156ad6f0e6388274ec6702ee0"),
            request: hex("07071000000101").reversed(),
            response: hex("05000800000302").reversed(),
            initiator: BluetoothAddress(0xA1A2_A3A4_A5A6, kind: .randomDevice),
            responder: BluetoothAddress(0xB1B2_B3B4_B5B6, kind: .publicDevice)
        )
        #expect(confirm == block("1e1e3fef878988ead2a74dc5bef13b86"))
    }

    @Test func s1_gives_the_short_term_key() {
        let short = Toolbox.s1(
            .zero,
            responder: block("000f0e0d0c0b0a091122334455667788"),
            initiator: block("010203040506070899aabbccddeeff00")
        )
        #expect(short == key("9a1fe1f0e8b0f49b5b4216ae796da062"))
    }

    @Test func f4_gives_the_confirm_value() {
        #expect(Toolbox.f4(Self.u, Self.v, Self.n1, 0) == block("f2c916f107a9bd1cf1eda1bea974872d"))
    }

    @Test func f5_gives_both_keys() {
        let keys = Toolbox.f5(Self.secret, Self.n1, Self.n2, Self.a1, Self.a2)
        #expect(keys.macKey == key("2965f176a1084a02fd3f6a20ce636e20"))
        #expect(keys.longTermKey == key("6986791169d7cd23980522b594750a38"))
    }

    @Test func f6_gives_the_check() {
        let check = Toolbox.f6(
            key("2965f176a1084a02fd3f6a20ce636e20"),
            Self.n1,
            Self.n2,
            block("12a3343bb453bb5408da42d20c2d0fc8"),
            capabilities: hex("010102"),
            Self.a1,
            Self.a2
        )
        #expect(check == block("e3c473989cd0e8c5d26c0b09da958f61"))
    }

    @Test func g2_gives_the_number_to_compare() {
        #expect(Toolbox.g2(Self.u, Self.v, Self.n1, Self.n2) == 938_554)
    }

    @Test func h6_and_h7_give_keys_from_keys() {
        #expect(Toolbox.h6(Self.w, identifier: 0x6C65_6272) == key("2d9ae102e76dc91ce8d3a9e280b16399"))
        #expect(
            Toolbox.h7(salt: key("000000000000000000000000746d7031"), Self.w) == key("fb173597c6a3c0ecd2998c2a75a57011")
        )
    }

    @Test func ah_gives_the_hash_of_a_private_address() {
        #expect(Toolbox.ah(Self.w, 0x70_8194) == 0x0D_FBAA)
    }

    @Test func both_ends_share_the_secret_of_the_sample_keys() throws {
        let a = P256KeyPair.debug
        let b = try #require(P256KeyPair(privateKey: Self.v))
        #expect(a.publicKey.x == Self.u)
        #expect(a.publicKey.y == hex("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b"))
        #expect(b.publicKey.x == hex("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190"))
        #expect(b.publicKey.y == hex("4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"))
        #expect(a.sharedSecret(with: b.publicKey) == Self.secret)
        #expect(b.sharedSecret(with: a.publicKey) == Self.secret)
        #expect(a.publicKey.isDebugKey && !b.publicKey.isDebugKey)
    }

    @Test func a_session_key_comes_from_the_long_term_key_and_both_diversifiers() {
        let session = AES128(key("4c68384139f574d836bcf34e9dfb01bf")).encrypt(block("0213243546576879acbdcedfe0f10213"))
        #expect(session == block("99ad1b5226a37e3e058e3b8e27c2c666"))
    }

    @Test(arguments: [(true, "9fcda7f448"), (false, "a34c13a415")])
    func ccm_seals_the_first_pdus_of_an_encrypted_link(fromCentral: Bool, expected: String) {
        let ccm = CCM(key("99ad1b5226a37e3e058e3b8e27c2c666"))
        let nonce: [UInt8] = [0, 0, 0, 0, fromCentral ? 0x80 : 0x00] + hex("24abdcbabebaafde")
        #expect(ccm.encrypt([0x06], nonce: nonce, header: 0x03) == hex(expected))
        #expect(ccm.decrypt(hex(expected), nonce: nonce, header: 0x03) == [0x06])
    }
}

@Suite struct CryptographyTests {
    @Test(arguments: [0, 1, 15, 16, 17, 31, 32, 33, 27, 251])
    func ccm_opens_what_it_sealed_and_nothing_that_was_changed(length: Int) {
        let ccm = CCM(key("000102030405060708090a0b0c0d0e0f"))
        let nonce = (0..<13).map { UInt8($0) }
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let sealed = ccm.encrypt(payload, nonce: nonce, header: 0x02)
        #expect(sealed.count == length + CCM.codeLength)
        #expect(ccm.decrypt(sealed, nonce: nonce, header: 0x02) == payload)
        #expect(ccm.decrypt(sealed, nonce: nonce, header: 0x01) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x10
            #expect(ccm.decrypt(changed, nonce: nonce, header: 0x02) == nil)
        }
        for shorter in 0..<min(sealed.count, 40) {
            #expect(ccm.decrypt(sealed.prefix(shorter), nonce: nonce, header: 0x02) == nil)
        }
    }

    @Test func AB_S01_a_point_off_the_curve_gives_no_secret() throws {
        let pair = P256KeyPair.debug
        let y = pair.publicKey.y
        let points = [
            P256Point(x: pair.publicKey.x, y: [UInt8](repeating: 0, count: 32)),
            P256Point(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)),
            P256Point(x: pair.publicKey.x, y: y.dropLast() + [y[31] ^ 1]),
            P256Point(x: [UInt8](repeating: 0xFF, count: 32), y: y),
        ]
        for point in points {
            let point = try #require(point)
            #expect(pair.sharedSecret(with: point) == nil)
        }
    }

    @Test func AB_H07_a_broken_source_gives_no_key_pair() {
        #expect(P256KeyPair { count in [UInt8](repeating: 0, count: count) } == nil)
        #expect(P256KeyPair { count in [UInt8](repeating: 0xFF, count: count) } == nil)
    }

    @Test func secrets_do_not_print() {
        let secret = key("000102030405060708090a0b0c0d0e0f")
        #expect("\(secret) \(String(reflecting: secret))" == "secret secret")
        #expect(!"\(P256KeyPair.debug)".contains("3f49"))
    }

    @Test func a_shortened_key_keeps_its_low_octets() {
        let long = key("000102030405060708090a0b0c0d0e0f")
        #expect(long.shortened(to: 7) == key("000000000000000000090a0b0c0d0e0f"))
        #expect(long.shortened(to: 16) == long)
    }
}

func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}

func block(_ text: String) -> Block128 { Block128(hex(text)) ?? .zero }
func key(_ text: String) -> Key128 { Key128(block(text)) }

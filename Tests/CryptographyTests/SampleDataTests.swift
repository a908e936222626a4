import BluetoothTypes
import Testing

@testable import Cryptography

/// The sample data of the specification, Core Vol 3 Part H Appendix D and 2.3.5.6.1, Vol 6 Part C 1, and of RFC 4493.
@Suite struct SampleDataTests {
    static let u = hex("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    static let v = hex("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    static let secret = hex("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    static let n1 = block("d5cb8454d177733effffb2ec712baeab")
    static let n2 = block("a6e8e7cc25a75f6e216583f7ff3dc4cf")
    static let a1 = BluetoothAddress(0x5612_3737_BFCE, kind: .publicDevice)
    static let a2 = BluetoothAddress(0xA713_702D_CFC1, kind: .publicDevice)
    static let w = key("ec0234a357c8ad05341010a60a397d9b")

    @Test(
        arguments: TestedProvider.allCases,
        [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ]
    )
    func cmac_gives_the_codes_of_its_standard(tested: TestedProvider, vector: (Int, String)) throws {
        let (length, expected) = vector
        let message = hex(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
        )
        let code = AESCMAC.code(
            for: Array(message.prefix(length)),
            key: key("2b7e151628aed2a6abf7158809cf4f3c"),
            with: try tested.make()
        )
        #expect(code == block(expected))
    }

    @Test(arguments: TestedProvider.allCases)
    func c1_gives_the_confirm_value_of_legacy_pairing(tested: TestedProvider) throws {
        let provider = try tested.make()
        let confirm = Toolbox.c1(
            .zero,
            random: block("5783d52156ad6f0e6388274ec6702ee0"),
            request: hex("07071000000101").reversed(),
            response: hex("05000800000302").reversed(),
            initiator: BluetoothAddress(0xA1A2_A3A4_A5A6, kind: .randomDevice),
            responder: BluetoothAddress(0xB1B2_B3B4_B5B6, kind: .publicDevice),
            with: provider
        )
        #expect(confirm == block("1e1e3fef878988ead2a74dc5bef13b86"))
    }

    @Test(arguments: TestedProvider.allCases)
    func s1_gives_the_short_term_key(tested: TestedProvider) throws {
        let provider = try tested.make()
        let short = Toolbox.s1(
            .zero,
            responder: block("000f0e0d0c0b0a091122334455667788"),
            initiator: block("010203040506070899aabbccddeeff00"),
            with: provider
        )
        #expect(short == key("9a1fe1f0e8b0f49b5b4216ae796da062"))
    }

    @Test(arguments: TestedProvider.allCases)
    func f4_gives_the_confirm_value(tested: TestedProvider) throws {
        let provider = try tested.make()
        #expect(Toolbox.f4(Self.u, Self.v, Self.n1, 0, with: provider) == block("f2c916f107a9bd1cf1eda1bea974872d"))
    }

    @Test(arguments: TestedProvider.allCases)
    func f5_gives_both_keys(tested: TestedProvider) throws {
        let provider = try tested.make()
        let keys = Toolbox.f5(Self.secret, Self.n1, Self.n2, Self.a1, Self.a2, with: provider)
        #expect(keys.macKey == key("2965f176a1084a02fd3f6a20ce636e20"))
        #expect(keys.longTermKey == key("6986791169d7cd23980522b594750a38"))
    }

    @Test(arguments: TestedProvider.allCases)
    func f6_gives_the_check(tested: TestedProvider) throws {
        let provider = try tested.make()
        let check = Toolbox.f6(
            key("2965f176a1084a02fd3f6a20ce636e20"),
            Self.n1,
            Self.n2,
            block("12a3343bb453bb5408da42d20c2d0fc8"),
            capabilities: hex("010102"),
            Self.a1,
            Self.a2,
            with: provider
        )
        #expect(check == block("e3c473989cd0e8c5d26c0b09da958f61"))
    }

    @Test(arguments: TestedProvider.allCases)
    func g2_gives_the_number_to_compare(tested: TestedProvider) throws {
        let provider = try tested.make()
        #expect(Toolbox.g2(Self.u, Self.v, Self.n1, Self.n2, with: provider) == 938_554)
    }

    @Test(arguments: TestedProvider.allCases)
    func ah_gives_the_hash_of_a_private_address(tested: TestedProvider) throws {
        let provider = try tested.make()
        #expect(Toolbox.ah(Self.w, 0x70_8194, with: provider) == 0x0D_FBAA)
    }

    @Test("a session key is derived from the long-term key and both diversifiers", arguments: TestedProvider.allCases)
    func aSessionKeyComesFromTheKeyAndBothDiversifiers(tested: TestedProvider) throws {
        let cipher = AES128(key("4c68384139f574d836bcf34e9dfb01bf"), with: try tested.make())
        let session = cipher.encrypt(block("0213243546576879acbdcedfe0f10213"))
        #expect(session == block("99ad1b5226a37e3e058e3b8e27c2c666"))
    }

    /// All packets of the sample: whether the central sends, the packet counter of its direction, the authenticated
    /// header.
    @Test(
        arguments: TestedProvider.allCases,
        [
            (true, 0, 0x03, "06", "9fcda7f448"),
            (false, 0, 0x03, "06", "a34c13a415"),
            (
                true, 1, 0x02, "1700636465666768696a6b6c6d6e6f707131323334353637383930",
                "7a70d66415226df26b17839a060405596bd6564f796b5b9ce6ff32f75a6d33"
            ),
            (
                false, 1, 0x02, "170037363534333231304142434445464748494a4b4c4d4e4f5051",
                "f38881e7bd94c9c369b9a66846dd4786aa8c39ce540d0dae3adcdf89b96088"
            ),
        ] as [(Bool, UInt8, UInt8, String, String)]
    )
    func ccm_seals_the_pdus_of_an_encrypted_link(
        tested: TestedProvider,
        packet: (fromCentral: Bool, counter: UInt8, header: UInt8, plain: String, sealed: String)
    ) throws {
        let (fromCentral, counter, header, plain, sealed) = packet
        let ccm = CCM(key("99ad1b5226a37e3e058e3b8e27c2c666"), with: try tested.make())
        let nonce: [UInt8] = [counter, 0, 0, 0, fromCentral ? 0x80 : 0x00] + hex("24abdcbabebaafde")
        #expect(ccm.encrypt(hex(plain), nonce: nonce, header: header) == hex(sealed))
        #expect(ccm.decrypt(hex(sealed), nonce: nonce, header: header) == hex(plain))
    }

    /// Core Vol 2 Part G 7.1.2: both key pairs on the curve P-256. The first is the debug key pair.
    @Test(
        arguments: TestedProvider.allCases,
        [
            [
                "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd",
                "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd",
                "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6",
                "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b",
                "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
                "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a",
                "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698",
            ],
            [
                "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663",
                "529aa0670d72cd6497502ed473502b037e8803b5c60829a5a3caa219505530ba",
                "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
                "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
                "f465e43ff23d3f1b9dc7dfc04da8758184dbc966204796eccf0d6cf5e16500cc",
                "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279",
                "ab85843a2f6d883f62e5684b38e307335fe6e1945ecd19604105c6f23221eb69",
            ],
        ]
    )
    func both_ends_share_the_secret_of_the_sample_keys(tested: TestedProvider, texts: [String]) throws {
        let (provider, values) = (try tested.make(), texts.map(hex))
        let a = try #require(P256KeyPair(privateKey: values[0], with: provider))
        let b = try #require(P256KeyPair(privateKey: values[1], with: provider))
        #expect(a.publicKey == P256Point(x: values[2], y: values[3]))
        #expect(b.publicKey == P256Point(x: values[4], y: values[5]))
        #expect(a.sharedSecret(with: b.publicKey) == values[6] && b.sharedSecret(with: a.publicKey) == values[6])
        #expect(a.publicKey.isDebugKey == (values[2] == Self.u))
        #expect(!b.publicKey.isDebugKey)
    }
}

@Suite struct CryptographyTests {
    @Test(arguments: TestedProvider.allCases, [0, 1, 15, 16, 17, 31, 32, 33, 27, 251])
    func ccm_opens_what_it_sealed_and_nothing_that_was_changed(tested: TestedProvider, length: Int) throws {
        let ccm = CCM(key("000102030405060708090a0b0c0d0e0f"), with: try tested.make())
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

    @Test("AB-S01: a point off the curve gives no shared secret", arguments: TestedProvider.allCases)
    func a_point_off_the_curve_gives_no_secret(tested: TestedProvider) throws {
        let debug = hex("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd")
        let pair = try #require(P256KeyPair(privateKey: debug, with: try tested.make()))
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

    @Test("AB-H07: a broken random source gives no key pair")
    func a_broken_source_gives_no_key_pair() {
        #expect(P256KeyPair { count in [UInt8](repeating: 0, count: count) } == nil)
        #expect(P256KeyPair { count in [UInt8](repeating: 0xFF, count: count) } == nil)
    }

    @Test("a random source is asked again for an invalid key, but not for ever")
    func aSourceIsAskedAgainForWhatIsNoKey() {
        var asked = 0
        let pair = P256KeyPair { count in
            asked += 1
            return [UInt8](repeating: asked < 16 ? 0 : 7, count: count)
        }
        #expect(pair?.publicKey == P256KeyPair(privateKey: [UInt8](repeating: 7, count: 32))?.publicKey)
        #expect(asked == 16)
        asked = 0
        #expect(
            P256KeyPair { count in
                asked += 1
                return [UInt8](repeating: 0xFF, count: count)
            } == nil
        )
        #expect(asked == 16)
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

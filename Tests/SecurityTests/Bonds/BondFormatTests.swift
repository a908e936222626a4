import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import GATT
import SMP
import Testing

@testable import Security

@Suite struct BondFormatTests {
    static let identity = LocalIdentity(address: Samples.adapter.address, key: Samples.key(1, 1))
    static let states = [
        StoredBonds(adapter: Samples.adapter, identity: identity),
        StoredBonds(adapter: Samples.adapter, identity: identity, uses: .max, bonds: [Samples.bond(1)]),
        StoredBonds(
            adapter: AdapterIdentity(address: .none),
            identity: identity,
            bonds: [Samples.fullBond(1), Samples.bond(2, level: Samples.strong), Samples.fullBond(3)]
        ),
    ]

    static let secret = secret(0)

    /// A secret of consecutive octets.
    static func secret(_ first: UInt8, predecessor: [UInt8] = [UInt8](repeating: 0, count: 32)) -> HostSecret {
        let known = HostSecret(file: Array(first..<(first + 32)) + predecessor)
        return known ?? HostSecret(random: RandomSource(), predecessor: nil)
    }

    @Test(arguments: states)
    func encoded_state_decodes_to_equal_state(state: StoredBonds) throws {
        let file = BondFile.encode(state, Self.secret)
        #expect(try BondFile.decode(file, Self.secret) == state)
        #expect(BondFile.encode(try BondFile.decode(file, Self.secret), Self.secret) == file)
    }

    static let sample: StoredBonds = {
        var bond = Samples.bond(1)
        bond.name = "A"
        bond.pairingAddress = Samples.address(2)
        return StoredBonds(adapter: Samples.adapter, identity: identity, uses: 5, bonds: [bond])
    }()

    /// The sample as version 1 and 2 store it, without the address of the pairing.
    static let oldSample: StoredBonds = {
        var bond = Samples.bond(1)
        bond.name = "A"
        return StoredBonds(adapter: Samples.adapter, identity: identity, uses: 5, bonds: [bond])
    }()

    /// Guarantees that future versions can read today's files. The name and the seal were computed with another
    /// implementation of RFC 2104.
    @Test func the_format_is_the_one_of_version_3() throws {
        let expected =
            "484152414c444244" + "0300" + "5cb83a91cf5f8ad4" + "ac000000"
            + "00332211" + "50a000" + "ffff" + "03757362" + "00332211" + "50a000" + "00000000000000010000000000000002"
            + "0500000000000000" + "0100"
            + "00000000000040008000000000000001" + "01010000" + "0000c0" + "0000000000000000" + "1f28" + "10"
            + "00000000" + "00000000" + "0141"
            + "00000000000000010000000000000002" + "0000" + "0000000000000000"
            + "00000000000000010000000000000002" + "0000" + "0000000000000000"
            + "00000000000000020000000000000002" + "01010000" + "0000c0" + "01020000" + "0000c0"
            + "00dac58ce74efbcf9451d8a21a4d27f273e96285a45de7a6832549e0bb8e67a4"
        #expect(hexadecimal(BondFile.encode(Self.sample, Self.secret)) == expected)
        #expect(hexadecimal(Self.secret.derive("derive static address at usb")).hasPrefix("2dd9f7dfdbb59370"))
    }

    @Test func a_file_of_version_1_is_read() throws {
        #expect(try BondFile.decode(PacketBuffer(Samples.version1), nil) == Self.oldSample)
        for index in Samples.version1.indices {
            var changed = Samples.version1
            changed[index] ^= 0x10
            #expect(throws: SealedFileError.self) { try BondFile.decode(PacketBuffer(changed), nil) }
        }
    }

    @Test func a_file_of_version_2_is_read() throws {
        #expect(try BondFile.decode(PacketBuffer(Samples.version2), Self.secret) == Self.oldSample)
        for index in Samples.version2.indices {
            var changed = Samples.version2
            changed[index] ^= 0x10
            #expect(throws: SealedFileError.self) { try BondFile.decode(PacketBuffer(changed), Self.secret) }
        }
    }

    /// Version 1 described an adapter by its company, as text, without a place.
    @Test(arguments: [
        ("company 2", AdapterIdentity(address: .none, company: 2)),
        ("company 65536", AdapterIdentity(address: .none, place: "company 65536")),
        ("usb", AdapterIdentity(address: .none, place: "usb")), ("", AdapterIdentity(address: .none)),
    ])
    func the_adapter_of_version_1_is_one_at_no_place(details: String, adapter: AdapterIdentity) throws {
        // The same with the place as the text, and without the company.
        var body = PacketBuffer(headroom: 0)
        StoredBonds(adapter: AdapterIdentity(address: .none, place: details), identity: Self.identity).write(to: &body)
        let octets = body.bytes
        let read = try StoredBonds(reading: PacketBuffer(Array(octets[..<7]) + Array(octets[9...])), version: 1)
        #expect(read.adapter == adapter)
        #expect(read.identity == Self.identity)
    }

    /// A bond of version 1 that could never be used, and data that displaced others.
    @Test("obsolete content of version 1 is dropped")
    func obsolete_content_is_dropped() throws {
        var keyless = Samples.bond(1)
        (keyless.keys.localKey, keyless.keys.peerKey) = (nil, nil)
        var large = Samples.bond(2)
        large.cache = Samples.cache(services: 200)
        var body = PacketBuffer(headroom: 0)
        StoredBonds(adapter: Samples.adapter, identity: Self.identity, bonds: [keyless, large]).write(to: &body)
        let octets = body.bytes
        let read = try StoredBonds(reading: PacketBuffer(Array(octets[..<7]) + Array(octets[9...])), version: 1)
        #expect(read.bonds == [Samples.bond(2)])
    }

    @Test("AB-G06: a file of bonds cut at any octet is refused", arguments: states)
    func a_file_cut_at_any_octet_is_refused(state: StoredBonds) {
        let file = BondFile.encode(state, Self.secret)
        for length in 0..<file.count {
            #expect(throws: SealedFileError.self) { try BondFile.decode(file.prefix(upTo: length), Self.secret) }
        }
        var longer = file
        longer.append(0)
        // Detected before the seal is computed.
        #expect(throws: SealedFileError.damaged("file: 1 octets left over")) {
            try BondFile.decode(longer, Self.secret)
        }
    }

    @Test("AB-G06: a file of bonds with any octet changed is refused")
    func a_file_with_any_octet_changed_is_refused() throws {
        let file = BondFile.encode(Self.states[1], Self.secret)
        for index in file.indices {
            var changed = file
            changed[index] ^= 0x10
            #expect(throws: SealedFileError.self) { try BondFile.decode(changed, Self.secret) }
        }
    }

    @Test("AB-G06, AB-H08: a file of bonds sealed with another secret or with none is foreign")
    func a_file_of_another_secret_or_of_none_is_foreign() throws {
        let file = BondFile.encode(Self.sample, Self.secret)
        #expect(throws: SealedFileError.foreign) { try BondFile.decode(file, Self.secret(1)) }
        #expect(throws: SealedFileError.foreign) { try BondFile.decode(file, nil) }
        // A forger knows the name of the secret, but not the secret.
        var forged = BondFile.encode(Self.sample, Self.secret(1)).bytes
        forged.replaceSubrange(10..<18, with: Self.secret.name)
        #expect(throws: SealedFileError.damaged("wrong seal")) {
            try BondFile.decode(PacketBuffer(forged), Self.secret)
        }
        // A forger writes the format without a secret.
        let old = PacketBuffer(Samples.version1)
        #expect(throws: SealedFileError.foreign) { try BondFile.decode(old, Self.secret) }
        let checksum = Array(Samples.version1.suffix(32))
        #expect(BondFile.checksumOfVersion1(old) == checksum)
        #expect(BondFile.checksumOfVersion1(file) == nil)
        #expect(try BondFile.decode(old, Self.secret(0, predecessor: checksum)) == Self.oldSample)
    }

    /// Checks the decoder without the checksum: it is total, reads no further than its input, and accepts nothing that
    /// it would not write.
    @Test(
        "the content of a file cut or changed at any octet is refused, or decodes to something else",
        arguments: states
    )
    func no_changed_content_reads_the_same(state: StoredBonds) throws {
        var body = PacketBuffer(headroom: 0)
        state.write(to: &body)
        #expect(try StoredBonds(reading: body) == state)
        for index in 0..<body.count {
            #expect(throws: PacketError.self) { try StoredBonds(reading: body.prefix(upTo: index)) }
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = body
                changed[index] ^= flip
                guard let other = try? StoredBonds(reading: changed) else { continue }
                var again = PacketBuffer(headroom: 0)
                other.write(to: &again)
                #expect(again == changed)
            }
        }
    }

    @Test func a_newer_version_is_named() {
        var file = BondFile.encode(Self.states[0], Self.secret)
        file[8] = 4
        #expect(throws: SealedFileError.unknownVersion(4)) { try BondFile.decode(file, Self.secret) }
    }

    @Test func printed_secrets_are_redacted() {
        let secret = Self.secret(100)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("100")) }
    }

    /// The file format since the beginning: the octets, followed by the checksum of the converted file of version 1, or
    /// zeroes.
    @Test func theFileOfASecretHasItsOctetsAndThoseOfItsPredecessor() {
        let drawn = RandomSource(seed: 5).bytes(32)
        let predecessor = [UInt8](1...32)
        #expect(HostSecret(random: RandomSource(seed: 5), predecessor: predecessor).file == drawn + predecessor)
        let first = HostSecret(random: RandomSource(seed: 5), predecessor: nil)
        #expect(first.file == drawn + [UInt8](repeating: 0, count: 32))
        #expect(first.hasReplaced([UInt8](repeating: 0, count: 32)))
        #expect(!first.hasReplaced(predecessor))
        let random = RandomSource(seed: 5)
        #expect(HostSecret(random: random, predecessor: nil).name != HostSecret(random: random, predecessor: nil).name)
    }

    @Test(arguments: [
        ("12345678-90AB-4DEF-8123-456789ABCDEF", true), ("1234567890AB4DEF8123456789ABCDEF", false), ("180D", false),
        ("12345678-90AB-4DEF-8123-456789ABCDEG", false), ("", false),
    ])
    func an_identifier_is_read_as_it_is_printed(text: String, isGood: Bool) {
        let identifier = BondIdentifier(text)
        #expect((identifier != nil) == isGood)
        if let identifier {
            #expect(identifier.description == text)
            #expect(BondIdentifier(identifier.bytes) == identifier)
        }
    }

    @Test func a_new_identifier_is_a_random_uuid() {
        let identifier = BondIdentifier(random: RandomSource(seed: 4))
        #expect(identifier.bytes[6] >> 4 == 4)
        #expect(identifier.bytes[8] >> 6 == 0b10)
    }
}

import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import GATT
import SMP
import Testing

@testable import Bonds

@Suite struct FormatTests {
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

    @Test(arguments: states)
    func what_is_written_reads_the_same(state: StoredBonds) throws {
        let file = BondFile.encode(state)
        #expect(try BondFile.decode(file) == state)
        #expect(BondFile.encode(try BondFile.decode(file)) == file)
    }

    /// So that files of today are read by the program of tomorrow.
    @Test func the_format_is_the_one_of_version_1() throws {
        var bond = Samples.bond(1)
        bond.name = "A"
        let state = StoredBonds(adapter: Samples.adapter, identity: Self.identity, uses: 5, bonds: [bond])
        let file = BondFile.encode(state)
        let expected =
            "484152414c444244" + "0100" + "a3000000"
            + "00332211" + "50a000" + "03757362" + "00332211" + "50a000" + "00000000000000010000000000000002"
            + "0500000000000000" + "0100"
            + "00000000000040008000000000000001" + "01010000" + "0000c0" + "0000000000000000" + "1f08" + "10"
            + "00000000" + "00000000" + "0141"
            + "00000000000000010000000000000002" + "0000" + "0000000000000000"
            + "00000000000000010000000000000002" + "0000" + "0000000000000000"
            + "00000000000000020000000000000002" + "01010000" + "0000c0"
        #expect(hexadecimal(file).dropLast(64) == expected)
    }

    @Test(arguments: states)
    func AB_G06_a_file_cut_at_any_octet_is_refused(state: StoredBonds) {
        let file = BondFile.encode(state)
        for length in 0..<file.count {
            #expect(throws: BondFileError.self) { try BondFile.decode(file.prefix(upTo: length)) }
        }
        var longer = file
        longer.append(0)
        #expect(throws: BondFileError.self) { try BondFile.decode(longer) }
    }

    @Test func AB_G06_a_file_with_any_octet_changed_is_refused() throws {
        let file = BondFile.encode(Self.states[1])
        for index in file.indices {
            var changed = file
            changed[index] ^= 0x10
            #expect(throws: BondFileError.self) { try BondFile.decode(changed) }
        }
    }

    /// What the checksum would hide: the decoder behind it is total, reads no further than it is given, and takes
    /// nothing that it would not write.
    @Test(arguments: states)
    func the_content_cut_or_changed_at_any_octet_is_refused_or_is_another(state: StoredBonds) throws {
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
        var file = BondFile.encode(Self.states[0])
        file[8] = 2
        #expect(throws: BondFileError.unknownVersion(2)) { try BondFile.decode(file) }
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

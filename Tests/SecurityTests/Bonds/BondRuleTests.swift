import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import Foundation
import SMP
import Testing

@testable import Security

/// The limits of a store, and the properties that identify a bond.
@Suite struct BondRuleTests {
    private static let identity = LocalIdentity(address: Samples.adapter.address, key: Samples.key(1, 1))

    /// A saved store with this number of bonds; the first is the least recently used.
    private func store(_ count: Int, capacity: Int = BondStore.maximumBonds) throws -> BondStore {
        let bonds = (0..<count).map { number in
            var bond = Samples.bond(number)
            bond.lastUse = UInt64(number + 1)
            return bond
        }
        let state = StoredBonds(
            adapter: Samples.adapter,
            identity: Self.identity,
            uses: UInt64(count),
            bonds: bonds
        )
        return try BondStore(
            storage: MemoryBondStorage(state),
            adapter: Samples.adapter,
            random: RandomSource(seed: 1),
            capacity: capacity
        )
    }

    @Test("AB-S14: a store evicts a bond only from the 1,001st on", arguments: [1_000, 1_001, 5_000])
    func the1000thBondPushesNobodyOutAndTheNextOneDoes(capacity: Int) throws {
        let store = try store(999, capacity: capacity)
        var evicted: [Bond] = []
        store.onEvict = { evicted.append($0) }
        try store.add(Samples.bond(999))
        #expect(store.bonds.count == 1_000)
        #expect(evicted.isEmpty)
        try store.add(Samples.bond(1_000))
        #expect(store.bonds.count == 1_000)
        #expect(evicted.map(\.address) == [Samples.address(0)])
        #expect(store.bond(identity: Samples.address(1_000)) != nil)
    }

    /// A store without any place could not keep the bond that a user has just created.
    @Test(arguments: [.min, -1, 0, 1])
    func aStoreHasRoomForOneBondAtLeast(capacity: Int) throws {
        let store = try store(0, capacity: capacity)
        for number in 0..<3 {
            try store.add(Samples.bond(number))
            #expect(store.bonds.map(\.address) == [Samples.address(number)])
        }
    }

    /// A caller that lists the bonds of any adapter, to forget some, finds them like their owner.
    @Test func bondsThatAreOpenedWhoseverTheyAreAreFound() throws {
        let bonds = [Samples.bond(7), Samples.bond(8)]
        let state = StoredBonds(adapter: Samples.adapter, identity: Self.identity, bonds: bonds)
        let storage = MemoryBondStorage(state)
        let store = try BondStore(existing: storage)
        #expect(store.bonds == bonds)
        for bond in bonds {
            #expect(store.bond(identity: bond.address) == bond)
            #expect(store.bond(bond.identifier) == bond)
        }
        try store.remove(bonds[0].identifier)
        #expect(store.bond(identity: bonds[0].address) == nil && store.bond(identity: bonds[1].address) == bonds[1])
        #expect(storage.state?.bonds == [bonds[1]])
        #expect(throws: BondError.missing(place: "memory")) { try BondStore(existing: MemoryBondStorage()) }
    }

    /// A peer without private addresses is identified by its address alone.
    @Test("AB-S10: a weaker key for the address of a bonded peer is refused")
    func aWeakerKeyForTheAddressOfABondedPeerIsRefused() throws {
        let store = try store(0)
        var strong = Samples.bond(7, level: Samples.strong)
        (strong.keys.identityKey, strong.keys.identityAddress) = (nil, nil)
        let kept = try store.add(strong)
        for kind in [BluetoothAddress.Kind.randomDevice, .randomIdentity] {
            var weak = Samples.bond(8, level: Samples.weak)
            (weak.keys.identityKey, weak.keys.identityAddress) = (nil, nil)
            weak.address = BluetoothAddress(kept.address.value, kind: kind)
            #expect(weak.identifier != kept.identifier)
            #expect(throws: BondError.self) { try store.add(weak) }
        }
        #expect(store.bonds == [kept])
    }

    /// 122 bits come from the random source, four contain version 4, and two the variant (RFC 9562 sections 4.1, 4.2
    /// and 5.4).
    @Test(arguments: 1...64 as ClosedRange<UInt64>)
    func anIdentifierHasTheVersionAndTheVariantOfARandomUUID(seed: UInt64) {
        let source = RandomSource(seed: seed)
        let drawn = [source.next(), source.next()].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
        var expected = drawn
        expected[6] = 0x40 | drawn[6] & 0x0F
        expected[8] = 0x80 | drawn[8] & 0x3F
        #expect(BondIdentifier(random: RandomSource(seed: seed)).bytes == expected)
    }

    /// A name has up to 248 octets (Core Vol 3 Part C 12.1), and no truncated characters.
    @Test(
        arguments: [
            (String(repeating: "a", count: 248), 248), (String(repeating: "a", count: 249), 248),
            (String(repeating: "é", count: 124), 248), (String(repeating: "é", count: 125), 248),
            (String(repeating: "a", count: 247) + "é", 247), (String(repeating: "a", count: 246) + "éa", 248),
            (String(repeating: "👩‍👩‍👧", count: 14), 234),
        ]
    )
    func asManyWholeCharactersOfANameAreKeptAsFit(name: String, octets: Int) throws {
        let store = try store(0)
        var bond = Samples.bond(7)
        bond.name = name
        let kept = try #require(try store.add(bond).name)
        #expect(kept.utf8.count == octets)
        #expect(name.hasPrefix(kept))
        #expect(name.utf8.count > octets || kept == name)
    }

    /// Up to the longest text whose length fits into one octet.
    @Test(arguments: [0, 1, 127, 128, 254, 255])
    func aTextReadsAsItWasWritten(count: Int) throws {
        let text = String(repeating: "a", count: count)
        var buffer = PacketBuffer(headroom: 0)
        buffer.append(text: text)
        #expect(buffer.count == 1 + count)
        var reader = ByteReader(buffer)
        #expect(try reader.text(at: "text", atMost: count) == text)
        try reader.end(at: "text")
        guard count > 0 else { return }
        #expect(throws: PacketError.self) {
            var reader = ByteReader(buffer)
            _ = try reader.text(at: "text", atMost: count - 1)
        }
    }

    @Test("AB-G06: missing directories of bonds are created for the user alone")
    func directoriesThatAreMissingAreMadeForTheUserAlone() throws {
        let scratch = try TestDirectory()
        let paths = [scratch.path, scratch.path + "/above", scratch.path + "/above/bonds"]
        let directory = try PosixBondDirectory(paths[2])
        for path in paths {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
        let file = try directory.create("file")
        directory.close(file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: paths[2]).contains("file"))
    }
}

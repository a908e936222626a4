import BluetoothTypes
import BondKillPoints
import Cryptography
import GATT
import SMP
import Testing

@testable import Security

/// The limits of each part of a file, on both sides.
@Suite struct FormatBoundsTests {
    /// A bond without any optional part.
    private static let bare: Bond = {
        var bond = Samples.bond(1)
        bond.keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: false))
        return bond
    }()
    /// The offset of its flags: after identifier, address and last use.
    private static let flags = 31
    /// The offset of its key size.
    private static let keySize = 33

    private static func octets(_ write: (inout PacketBuffer) -> Void) -> [UInt8] {
        var buffer: PacketBuffer = []
        write(&buffer)
        return buffer.bytes
    }

    /// Reads the octets, and requires that none are left.
    private static func read<Value>(
        _ octets: [UInt8],
        _ read: (inout ByteReader) throws(PacketError) -> Value
    ) throws(PacketError) -> Value {
        var reader = ByteReader(PacketBuffer(octets))
        let value = try read(&reader)
        try reader.end(at: "test")
        return value
    }

    private static func bond(_ octets: [UInt8]) throws(PacketError) -> Bond {
        try read(octets) { reader throws(PacketError) in try Bond(reading: &reader) }
    }

    /// The optional parts in the order of their bits.
    private static let parts: [@Sendable (inout Bond) -> Void] = [
        { $0.name = "A" }, { $0.keys.localKey = EncryptionKey(key: Samples.key(1, 1), diversifier: 1, random: 2) },
        { $0.keys.peerKey = EncryptionKey(key: Samples.key(1, 2), diversifier: 3, random: 4) },
        { $0.keys.identityKey = Samples.key(1, 3) }, { $0.keys.identityAddress = Samples.address(9) },
        { $0.keys.localSigningKey = Samples.key(1, 4) }, { $0.keys.peerSigningKey = Samples.key(1, 5) },
        { $0.record = ClientRecord() }, { $0.cache = AttributeCache() }, { $0.isLost = true },
        { $0.keys.level.isAuthenticated = true }, { $0.keys.level.isSecureConnections = true },
        { $0.showsIdentity = true }, { $0.pairingAddress = Samples.address(8) },
    ]

    @Test(arguments: 0..<14)
    func eachPartOfABondHasABitOfItsOwn(bit: Int) throws {
        var bond = Self.bare
        Self.parts[bit](&bond)
        let octets = Self.octets(bond.write)
        #expect(octets[Self.flags...(Self.flags + 1)] == [UInt8(truncatingIfNeeded: 1 << bit), UInt8((1 << bit) >> 8)])
        #expect(try Self.bond(octets) == bond && bond != Self.bare)
    }

    @Test(arguments: 14..<16)
    func aBitThatNobodyKnowsIsRefused(bit: Int) {
        var octets = Self.octets(Self.bare.write)
        octets[Self.flags + 1] = UInt8(1 << (bit - 8))
        #expect(throws: PacketError(.value(1 << UInt64(bit)), at: "flags")) { try Self.bond(octets) }
    }

    /// A key has 7 to 16 octets (Core Vol 3 Part H 2.3.4).
    @Test(arguments: 0...255)
    func aKeySizeThatThereIsNotIsRefused(size: Int) throws {
        var octets = Self.octets(Self.bare.write)
        octets[Self.keySize] = UInt8(size)
        guard (7...16).contains(size) else {
            #expect(throws: PacketError(.value(UInt64(size)), at: "key size")) { try Self.bond(octets) }
            return
        }
        #expect(try Self.bond(octets).keys.level.keySize == size)
    }

    /// Two bonds with the same identifier or address, which neither an app nor the radio could tell apart.
    @Test func twoBondsOfOneNameOrOneAddressAreRefused() {
        let identity = LocalIdentity(address: Samples.adapter.address, key: Samples.key(1, 1))
        var (sameName, sameAddress, samePairing, ownPairing) = (
            Samples.bond(2), Samples.bond(2), Samples.bond(2), Samples.bond(2)
        )
        sameName.identifier = Samples.bond(1).identifier
        sameAddress.address = Samples.bond(1).address
        samePairing.pairingAddress = Samples.bond(1).address
        ownPairing.pairingAddress = ownPairing.address
        for (other, isGood) in [
            (Samples.bond(2), true), (sameName, false), (sameAddress, false), (samePairing, false), (ownPairing, false),
        ] {
            let state = StoredBonds(adapter: Samples.adapter, identity: identity, bonds: [Samples.bond(1), other])
            let read = try? StoredBonds(reading: PacketBuffer(Self.octets(state.write)))
            #expect(read == (isGood ? state : nil))
        }
    }

    @Test(arguments: [false, true], [false, true])
    func aRecordAndACacheSayWhatTheyHave(hasHash: Bool, hasOther: Bool) throws {
        let hash = hasHash ? DatabaseHash([UInt8](repeating: 7, count: 16)) : nil
        let record = ClientRecord(databaseHash: hash, isChangeAware: hasOther)
        var cache = AttributeCache(hash: hash)
        if hasOther { cache.services = [] }
        let (flags, size) = (UInt8((hasHash ? 1 : 0) + (hasOther ? 2 : 0)), hasHash ? 17 : 1)
        // Client features, no configurations, no changes; no services where they are known, and three empty tables.
        let ends: [[UInt8]] = [[0, 0, 0, 0, 0], [UInt8](repeating: 0, count: hasOther ? 8 : 6)]
        let written = [Self.octets(record.write), Self.octets(cache.write)]
        for (octets, end) in zip(written, ends) {
            #expect(octets[0] == flags && octets.count == size + end.count && Array(octets.suffix(end.count)) == end)
        }
        let readRecord = try Self.read(written[0]) { reader throws(PacketError) in try ClientRecord(reading: &reader) }
        let readCache = try Self.read(written[1]) { reader throws(PacketError) in try AttributeCache(reading: &reader) }
        #expect(readRecord == record)
        #expect(readCache == cache)
        for unknown in [4, 8, 128, 255] as [UInt8] {
            let octets = [unknown] + written[0].dropFirst()
            #expect(throws: PacketError(.value(UInt64(unknown)), at: "flags")) {
                try Self.read(octets) { reader throws(PacketError) in try ClientRecord(reading: &reader) }
            }
        }
    }

    /// The handles of a table increase strictly, so that its encoding is unique.
    @Test(arguments: [(5, 4, false), (5, 5, false), (5, 6, true), (0, 0xFFFF, true)] as [(UInt16, UInt16, Bool)])
    func theHandlesOfATableOnlyGoUp(first: UInt16, second: UInt16, isGood: Bool) throws {
        let octets = Self.octets { buffer in
            buffer.append(count: 2)
            for handle in [first, second] {
                buffer.append(integer: handle)
                buffer.append(7)
            }
        }
        func read() throws -> [UInt16: UInt8] {
            try Self.read(octets) { reader throws(PacketError) in
                try reader.table(at: "table") { reader throws(PacketError) in try reader.integer(at: "value") }
            }
        }
        guard isGood else {
            #expect(throws: PacketError(.value(UInt64(second)), at: "table")) { try read() }
            return
        }
        #expect(try read() == [first: 7, second: 7])
    }

    @Test(arguments: [(5, 4, false), (5, 5, true), (5, 6, true)] as [(UInt16, UInt16, Bool)])
    func aRangeOfHandlesEndsWhereItBeginsOrLater(first: UInt16, last: UInt16, isGood: Bool) {
        let octets = Self.octets { buffer in
            buffer.append(integer: first)
            buffer.append(integer: last)
        }
        let range = try? Self.read(octets) { reader throws(PacketError) in try reader.handles(at: "range") }
        #expect(range == (isGood ? first...last : nil))
    }

    /// The address types of a device, without those that a controller assigns to resolved addresses (Core Vol 4 Part E
    /// 7.7.65.1).
    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func anAddressIsPublicOrRandom(kind: UInt8) throws {
        let octets: [UInt8] = [kind, 1, 2, 3, 4, 5, 6]
        func read() throws -> BluetoothAddress {
            try Self.read(octets) { reader throws(PacketError) in try reader.address(at: "address") }
        }
        guard kind < 2 else {
            #expect(throws: PacketError(.value(UInt64(kind)), at: "address")) { try read() }
            return
        }
        #expect(try read() == BluetoothAddress(0x0605_0403_0201, kind: kind == 0 ? .publicDevice : .randomDevice))
    }

    @Test func aTextIsUTF8() {
        for octets in [[1, 0xFF], [2, 0xC3, 0x28], [1, 0xC3]] as [[UInt8]] {
            #expect(throws: PacketError(.value(0), at: "text")) {
                try Self.read(octets) { reader throws(PacketError) in try reader.text(at: "text", atMost: 255) }
            }
        }
        #expect(throws: PacketError(.length(3), at: "text")) {
            try Self.read([3, 65, 66, 67]) { reader throws(PacketError) in try reader.text(at: "text", atMost: 2) }
        }
    }

    @Test(arguments: 0...20)
    func aUUIDHasTwoFourOrSixteenOctets(width: Int) {
        let octets = [UInt8(width)] + (0..<width).map { UInt8($0 + 1) }
        let uuid = try? Self.read(octets) { reader throws(PacketError) in try reader.uuid(at: "UUID") }
        #expect((uuid != nil) == [2, 4, 16].contains(width))
        #expect(uuid.map { $0.littleEndianBytes == Array(octets.dropFirst()) } ?? true)
    }

    @Test(arguments: 0...33)
    func anIdentifierHasSixteenOctets(count: Int) {
        let octets = (0..<count).map { UInt8($0 + 1) }
        #expect(BondIdentifier(octets)?.bytes == (count == 16 ? octets : nil))
    }

    @Test func aFileHasSixteenMebibytesAtMost() {
        for (count, reason) in [
            (16_777_216, "it is not a file of bonds"), (16_777_217, "it is longer than 16777216 octets"),
        ] {
            #expect(throws: SealedFileError.damaged(reason)) {
                try BondFile.decode(PacketBuffer([UInt8](repeating: 0, count: count)), BondFormatTests.secret)
            }
        }
    }
}

/// The exact number of octets kept of a bond.
@Suite struct BondSizeTests {
    private static let hash = DatabaseHash([UInt8](repeating: 1, count: 16))

    /// A cache of the given encoded size: 11 octets plus descriptors, of 5 octets with short UUIDs and 19 with long
    /// ones.
    private static func cache(_ size: Int) throws -> AttributeCache {
        let long = try #require((0..<5).first { (size - 11 - 19 * $0) % 5 == 0 })
        let short = (size - 11 - 19 * long) / 5
        var cache = AttributeCache()
        cache.descriptors[1] = (0..<(long + short)).map {
            DiscoveredDescriptor(handle: UInt16($0), uuid: $0 < long ? BluetoothUUID(high: 1, low: 2) : 0x2902)
        }
        return cache
    }

    /// A record with this number of choices, which takes 22 octets and four per choice.
    private static func record(_ choices: Int) -> ClientRecord {
        ClientRecord(
            configurations: Dictionary(uniqueKeysWithValues: (1...choices).map { (UInt16($0), .notify) }),
            databaseHash: hash
        )
    }

    @Test(
        "AB-S14: the attribute cache of a bond is stored up to its limit",
        arguments: [(9_215, true), (9_216, true), (9_217, false)]
    )
    func aCacheIsKeptUpToItsBound(size: Int, isKept: Bool) throws {
        var bond = Samples.bond(1)
        let cache = try Self.cache(size)
        bond.cache = cache
        #expect(bond.bounded.cache == (isKept ? cache : nil))
    }

    @Test("AB-S14: the client record of a bond is stored up to its limit", arguments: [(1_530, true), (1_531, false)])
    func aRecordIsKeptUpToItsBound(choices: Int, isKept: Bool) {
        var bond = Samples.bond(1)
        bond.record = Self.record(choices)
        #expect(bond.bounded.record == (isKept ? Self.record(choices) : nil))
    }

    /// The longest possible record is two octets short of its limit.
    @Test("AB-S14: the largest bond has the documented size")
    func theLargestBondTakesWhatIsSaid() throws {
        var bond = Samples.fullBond(7)
        bond.name = String(repeating: "n", count: 248)
        bond.cache = try Self.cache(9_216)
        bond.record = Self.record(1_530)
        #expect(bond.bounded == bond)
        var buffer: PacketBuffer = []
        bond.write(to: &buffer)
        #expect(buffer.count == Bond.maximumSize - 2)
    }
}

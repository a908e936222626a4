import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import GAP
@testable import Security

/// Encrypted advertising data (Core Vol 3 Part C 10.10; Core Specification Supplement Part A 1.23 and 2.3).
@Suite struct EncryptedDataTests {
    private static let key: [UInt8] = [
        0x57, 0xA9, 0xDA, 0x12, 0xD1, 0x2E, 0x6E, 0x13, 0x1E, 0x20, 0x61, 0x2A, 0xD1, 0x0A, 0x6A, 0x19,
    ]
    private static let vector: [UInt8] = [0x9E, 0x7A, 0x00, 0xEF, 0xB1, 0x7A, 0xE7, 0x46]
    private static let content = AdvertisingData([.localName(.init("Short Mini-Bus")), .appearance(0x8C0A)])

    private func material() throws -> EncryptedDataKeyMaterial {
        try EncryptedDataKeyMaterial(octets: PacketBuffer(Self.key + Self.vector))
    }

    /// The two sets of the supplement. The most significant bit is set in the first randomizer, and clear in the
    /// second.
    @Test(
        arguments: [
            (
                [0x18, 0xE1, 0x57, 0xCA, 0xDE],
                [
                    0x74, 0xE4, 0xDC, 0xAF, 0xDC, 0x51, 0xC7, 0x28, 0x28, 0x10, 0xC2, 0x21, 0x7F, 0x0E, 0x4C, 0xEF,
                    0x43, 0x43, 0x18, 0x1F, 0xBA, 0x00, 0x69, 0xCC,
                ]
            ),
            (
                [0x8D, 0x1C, 0x97, 0x6E, 0x7A],
                [
                    0x35, 0x44, 0x40, 0x76, 0x12, 0x57, 0x88, 0xC2, 0x38, 0xA5, 0x8E, 0x8B, 0xD9, 0xCF, 0xF0, 0xDE,
                    0xFE, 0x25, 0x1A, 0x8E, 0x72, 0x75, 0x45, 0x4C,
                ]
            ),
        ] as [([UInt8], [UInt8])]
    )
    func theSampleDataOfTheSupplement(randomizer: [UInt8], sealed: [UInt8]) throws {
        let material = try material()
        #expect(material.vector == 0x46E7_7AB1_EF00_7A9E)
        #expect(material.sessionKey.bytes == Self.key)
        let structure = try material.encrypt(Self.content, randomizer: randomizer)
        #expect(AdvertisingData([structure]).encoded == PacketBuffer([0x1E, 0x31] + randomizer + sealed))
        #expect(try material.decrypt(structure) == Self.content)
    }

    @Test func keyMaterialIsReadAsItIsWritten() throws {
        let random = RandomSource(seed: 4)
        let (material, other) = (EncryptedDataKeyMaterial(random: random), EncryptedDataKeyMaterial(random: random))
        #expect(material.octets.count == 24)
        #expect(material != other)
        #expect(try EncryptedDataKeyMaterial(octets: material.octets) == material)
        for count in (0..<60) where count != 24 {
            #expect(throws: EncryptedDataError.keyMaterialLength(count)) {
                try EncryptedDataKeyMaterial(octets: PacketBuffer([UInt8](repeating: 1, count: count)))
            }
        }
    }

    @Test func whatIsCutAnywhereIsRefused() throws {
        let material = try material()
        let whole = try material.encrypt(Self.content, random: RandomSource(seed: 1))
        for count in 0..<whole.payload.count {
            let cut = AdvertisingStructure(.encryptedData, whole.payload.prefix(upTo: count))
            let expected: EncryptedDataError = count < 9 ? .tooShort(octets: count) : .wrongCode
            #expect(throws: expected) { try material.decrypt(cut) }
        }
    }

    @Test func whatIsChangedAnywhereIsRefused() throws {
        let material = try material()
        let whole = try material.encrypt(Self.content, random: RandomSource(seed: 1))
        for bit in 0..<(8 * whole.payload.count) {
            var octets = whole.payload.bytes
            octets[bit / 8] ^= 1 << (bit % 8)
            let changed = AdvertisingStructure(.encryptedData, PacketBuffer(octets))
            #expect(throws: EncryptedDataError.wrongCode) { try material.decrypt(changed) }
        }
        for bit in 0..<192 {
            var octets = material.octets.bytes
            octets[bit / 8] ^= 1 << (bit % 8)
            let other = try EncryptedDataKeyMaterial(octets: PacketBuffer(octets))
            #expect(throws: EncryptedDataError.wrongCode) { try other.decrypt(whole) }
        }
        #expect(throws: EncryptedDataError.otherType(.appearance)) { try material.decrypt(.appearance(1)) }
    }

    @Test func theLongestContent() throws {
        let material = try material()
        func content(_ octets: Int) -> AdvertisingData {
            let company = CompanyIdentifier(rawValue: 0xFFFF)
            return AdvertisingData([
                .manufacturerData(company, PacketBuffer([UInt8](repeating: 7, count: octets - 4)))
            ])
        }
        let longest = try material.encrypt(content(245), random: RandomSource(seed: 1))
        #expect(longest.payload.count == AdvertisingData.maximumPayload)
        #expect(try material.decrypt(longest) == content(245))
        #expect(throws: EncryptedDataError.tooLong(octets: 246, limit: 245)) {
            try material.encrypt(content(246), random: RandomSource(seed: 1))
        }
        #expect(throws: EncryptedDataError.tooLong(octets: 246, limit: 245)) {
            try material.encrypt(content(240), padding: 6, random: RandomSource(seed: 1))
        }
        let nothing = try material.encrypt(AdvertisingData(), random: RandomSource(seed: 1))
        #expect(try nothing.payload.count == 9 && material.decrypt(nothing).isEmpty)
    }

    /// Another key holder may send arbitrary content; the readable part is kept.
    @Test("AB-G01: incomplete encrypted content is read as far as possible")
    func contentThatIsNotWholeIsReadAsFarAsItCanBe() throws {
        let material = try material()
        let random = RandomSource(seed: 9)
        for count in 0...Self.content.encodedLength {
            let randomizer = random.bytes(5)
            let octets = Self.content.encoded.prefix(upTo: count)
            let nonce = randomizer + Self.vector
            let sealed = CCM(material.sessionKey).encrypt(octets, nonce: nonce, header: 0xEA)
            let structure = AdvertisingStructure(.encryptedData, PacketBuffer(randomizer + sealed))
            #expect(try material.decrypt(structure) == AdvertisingData(parsing: octets))
        }
    }

    @Test func dataOfOthersStayClosed() throws {
        let random = RandomSource(seed: 2)
        let (mine, others) = (EncryptedDataKeyMaterial(random: random), EncryptedDataKeyMaterial(random: random))
        let closed = try others.encrypt(Self.content, random: random)
        let data = AdvertisingData([.txPowerLevel(4), closed, try mine.encrypt(Self.content, random: random)])
        let opened = data.decrypted(with: mine)
        #expect(opened.structures == [.txPowerLevel(4), closed] + Self.content.structures)
    }
}

/// Encrypted advertising data between complete stacks, over the air.
@Suite struct EncryptedAdvertisingTests {
    private static let company = CompanyIdentifier(rawValue: 0xFFFF)
    private static let first = AdvertisingData([.appearance(0x0341), .manufacturerData(company, [1, 2, 3])])
    private static let second = AdvertisingData([.localName(.init("Gorm"))])

    @Test(
        "GAP/SCN/BV-01: an observer with the key reads encrypted advertising data",
        arguments: ControllerMode.allCases
    )
    func anObserverReadsEncryptedData(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (sender, listener) = (world.device(), world.device())
        let random = RandomSource(seed: 3)
        let material = EncryptedDataKeyMaterial(random: random)
        let structure = try material.encrypt(Self.first, random: random)
        let broadcaster = Broadcaster(sender.access)
        broadcaster.send(AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([structure])))
        let sighting = try #require(try listener.hear(ScanSettings(isActive: false)).first)
        // Without the right key, nothing can be read.
        #expect(sighting.data.structures.map(\.type) == [.encryptedData])
        #expect(sighting.data.manufacturerData == nil)
        #expect(sighting.data.decrypted(with: EncryptedDataKeyMaterial(random: random)) == sighting.data)
        #expect(sighting.data.decrypted(with: material) == Self.first)
    }

    /// Advertises three contents in turn, and expects a new randomizer for each.
    private func expectNewRandomizers(padding: Int) throws {
        let world = GAPWorld(.extended)
        let (sender, listener) = (world.device(), world.device())
        let random = RandomSource(seed: 5)
        let material = EncryptedDataKeyMaterial(random: random)
        let broadcaster = Broadcaster(sender.access)
        var failure: GAPError?
        broadcaster.onFailed = { failure = $0 }
        var payloads: [PacketBuffer] = []
        for content in [Self.first, Self.second, Self.first] {
            let structure = try material.encrypt(content, padding: padding, random: random)
            broadcaster.send(AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([structure])))
            world.run(.milliseconds(500))
            let heard = try #require(try listener.hear().last)
            #expect(heard.data.encoded.count == 2 + 9 + content.encodedLength + padding)
            #expect(heard.data.decrypted(with: material) == content)
            payloads.append(try #require(heard.data.structures.first).payload)
        }
        #expect(failure == nil)
        #expect(Set(payloads.map { $0.prefix(upTo: 5) }).count == 3)
        #expect(Set(payloads.map { $0.slice(5..<($0.count - 4)) }).count == 3)
        #expect(Set(payloads.map { $0.suffix(after: $0.count - 4) }).count == 3)
    }

    @Test("GAP/ADV/BV-20: encrypted advertising data have a new randomizer each time")
    func encryptedData() throws {
        try expectNewRandomizers(padding: 0)
    }

    @Test("GAP/ADV/BV-21: encrypted advertising data with padding have a new randomizer each time")
    func encryptedDataWithPadding() throws {
        try expectNewRandomizers(padding: 4)
    }
}

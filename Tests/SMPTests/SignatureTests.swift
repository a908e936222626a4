import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Data signed instead of encrypted (Core Vol 3 Part H 2.4.5).
@Suite struct SignatureTests {
    static let message: PacketBuffer = [0xD2, 0x12, 0x13, 0x37]

    /// Two devices that have exchanged signing keys.
    static func bench() -> PairedManagers {
        var configuration = SecuringTests.configuration()
        configuration.givenKeys.insert(.signing)
        configuration.wantedKeys.insert(.signing)
        let bench = PairedManagers(central: configuration, peripheral: configuration)
        #expect(bench.secure(.encrypted).isSuccess)
        return bench
    }

    /// Values that another stack computes as well: no octets, 16 octets, and a Signed Write Command.
    @Test(
        arguments: [
            ("2B7E151628AED2A6ABF7158809CF4F3C", "", 0, "00000000B3A8594127EBC2C0"),
            (
                "2B7E151628AED2A6ABF7158809CF4F3C", "6BC1BEE22E409F96E93D7E117393172A", 0,
                "00000000273974F4392A232A"
            ),
            ("611B64EBFBCD1FD372EC9196DF425E50", "D212001337", 1, "01000000F1871E933C900FF2"),
        ] as [(String, String, UInt32, String)]
    )
    func signatures_are_those_of_others(key: String, message: String, counter: UInt32, expected: String) throws {
        func octets(_ text: String) -> [UInt8] {
            stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        }
        let signature = Signature(
            of: PacketBuffer(octets(message)),
            key: try #require(Key128(octets(key))),
            counter: counter
        )
        #expect(signature.octets.bytes == octets(expected))
        #expect(Signature(PacketBuffer(octets(expected))) == signature)
    }

    @Test("SM/CEN/SIGN/BV-01, SM/CEN/SIGN/BV-03: signed data are accepted by the other side")
    func signed_data_are_taken_by_the_other_side() throws {
        let bench = Self.bench()
        for (from, to) in [(bench.central, bench.peripheral), (bench.peripheral, bench.central)] {
            for number in 0..<5 as Range<UInt8> {
                let signature = try #require(from.manager.sign(Self.message))
                #expect(signature.bytes.prefix(4) == [number, 0, 0, 0])
                #expect(signature.count == 12)
                #expect(to.manager.verify(Self.message, signature: signature))
            }
            #expect(from.keyChanges >= 5)
            #expect(to.keyChanges >= 5)
            #expect(from.manager.keys?.localSignCounter == 5)
            #expect(to.manager.keys?.peerSignCounter == 5)
        }
    }

    @Test("SM/CEN/SIGN/BI-01: a signature that is wrong in any bit is rejected")
    func a_signature_that_is_wrong_in_any_bit_is_rejected() throws {
        let bench = Self.bench()
        let signature = try #require(bench.central.manager.sign(Self.message)).bytes
        for bit in 0..<96 {
            var wrong = signature
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!bench.peripheral.manager.verify(Self.message, signature: PacketBuffer(wrong)))
        }
        for bit in 0..<32 {
            var wrong = Self.message.bytes
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!bench.peripheral.manager.verify(PacketBuffer(wrong), signature: PacketBuffer(signature)))
        }
        for length in (0..<12) + [13, 24] {
            let cut = Array((signature + signature).prefix(length))
            #expect(!bench.peripheral.manager.verify(Self.message, signature: PacketBuffer(cut)))
        }
        // None of these uses up a counter.
        #expect(bench.peripheral.keyChanges == 0)
        #expect(bench.peripheral.manager.verify(Self.message, signature: PacketBuffer(signature)))
    }

    @Test("SM/SIGN/BI-02: a signature with a used counter is rejected")
    func a_number_that_came_before_is_rejected() throws {
        let bench = Self.bench()
        let signatures = (0..<4).compactMap { _ in bench.central.manager.sign(Self.message) }
        try #require(signatures.count == 4)
        #expect(bench.peripheral.manager.verify(Self.message, signature: signatures[2]))
        for old in signatures[...2] {
            #expect(!bench.peripheral.manager.verify(Self.message, signature: old))
        }
        // A lost signature does no harm.
        #expect(bench.peripheral.manager.verify(Self.message, signature: signatures[3]))
    }

    @Test func without_keys_or_numbers_there_are_no_signatures() throws {
        let bench = SecuringTests.bench()
        #expect(bench.central.manager.sign(Self.message) == nil)
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.central.manager.sign(Self.message) == nil)
        var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true))
        keys.localSigningKey = Key128(Block128(high: 1, low: 2))
        keys.peerSigningKey = keys.localSigningKey
        keys.localSignCounter = .max - 1
        keys.peerSignCounter = .max - 1
        let (last, none) = (keys.sign(Self.message), keys.sign(Self.message))
        #expect(none == nil)
        let signature = try #require(last)
        let verdicts = [signature, signature].map { keys.verify(Self.message, signature: $0) }
        #expect(verdicts == [true, false])
        let key = try #require(keys.peerSigningKey)
        let beyond = Signature(of: Self.message, key: key, counter: .max)
        let isTaken = keys.verify(Self.message, signature: beyond.octets)
        #expect(!isTaken)
        #expect(keys.peerSignCounter == .max)
    }
}

import Cryptography
import EventLoops
import SMP
import Testing

/// The values that users see, type and carry during pairing, and the distributed keys: none of them appears in a text.
@Suite struct SecretsTests {
    private static let block = Block128(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)

    /// Every text that Swift derives from a value by itself.
    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), "\([value])", "\(Optional(value) as Any)", dumped]
    }

    /// Whether a text contains either end of the block in hexadecimal, or its halves in decimal.
    private static func shows(_ text: String) -> Bool {
        let halves = [block.high, block.low].map { "\($0)" }
        return (["112233", "332211", "ddeeff", "ffeedd"] + halves).contains { text.lowercased().contains($0) }
    }

    @Test func passkeys_and_numbers_do_not_print() {
        let values: [any Sendable] = [
            PairingPrompt.showPasskey(739_421), PairingPrompt.compare(739_421), PairingAnswer.passkey(739_421),
        ]
        for text in values.flatMap({ Self.texts(of: $0) }) { #expect(!text.contains("739421"), "\(text)") }
        #expect("\(PairingPrompt.confirmReplacement) \(PairingAnswer.refuse)" == "confirmReplacement refuse")
    }

    @Test func out_of_band_data_are_not_printed() throws {
        let random = RandomSource(seed: 1)
        let pair = try #require(P256KeyPair(random: random.bytes))
        let own = OwnOutOfBandData(keyPair: pair, random: Self.block)
        let values: [any Sendable] = [
            own, own.shared, OutOfBandData.legacy(Key128(Self.block)), OutOfBand(peer: own.shared, own: own),
            OutOfBandData.secureConnections(confirm: Self.block, random: Self.block),
        ]
        for text in values.flatMap({ Self.texts(of: $0) }) { #expect(!Self.shows(text), "\(text)") }
    }

    @Test func keys_that_are_distributed_do_not_print() {
        let key = Key128(Self.block)
        let commands: [SMPCommand] = [
            .encryptionInformation(EncryptionInformation(key)), .identityInformation(IdentityInformation(key)),
            .signingInformation(SigningInformation(key)),
        ]
        for text in commands.flatMap({ Self.texts(of: $0) }) { #expect(!Self.shows(text), "\(text)") }
        for text in Self.texts(of: EncryptionInformation(key)) { #expect(!Self.shows(text), "\(text)") }
    }
}

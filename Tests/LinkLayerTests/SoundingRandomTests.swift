import BluetoothTypes
import Cryptography
import Testing

@testable import LinkLayer

/// The sample data of the deterministic random bit generator (Core Vol 6 Part C 7).
@Suite struct SoundingRandomTests {
    private var sample: SoundingRandom {
        var (central, peripheral) = (SoundingSecurityExchange(), SoundingSecurityExchange())
        (peripheral.vector, central.vector) = (0xE10B_C28A_0BFD_DFE9, 0x3E7F_5186_E0CA_0B3B)
        (peripheral.nonce, central.nonce) = (0x9FF4_77C1, 0x8673_840D)
        (peripheral.personalization, central.personalization) = (0xC980_DEDF_9882_ED44, 0x64A6_7496_7868_F143)
        return SoundingRandom(central: central, peripheral: peripheral)
    }

    @Test func keyAndNonceAreThoseOfTheSample() {
        #expect(hexadecimal(sample.key.bytes) == "eee04d7c76113a5cec992ae320c24d27")
        #expect(hexadecimal(sample.nonce.bytes) == "df905647c1066e6f52c03edfb82b6928")
    }

    @Test func bitsAreThoseOfTheSample() {
        var random = sample
        let octets = (0..<16).map { _ in random.octet(.channels, step: 0) }
        #expect(hexadecimal(octets) == "79741fd18f577b45d09a665a7f1f2858")
    }

    @Test func channelsAreShuffledAsInTheSample() {
        var random = sample
        let channels = [UInt8](2...20)
        #expect(
            random.shuffled(channels, .mode0Channels, step: 0)
                == [11, 7, 14, 18, 9, 19, 10, 8, 5, 2, 4, 15, 16, 13, 12, 6, 17, 20, 3]
        )
        #expect(
            random.shuffled(channels, .channels, step: 3)
                == [6, 12, 5, 10, 3, 2, 18, 17, 16, 8, 11, 7, 19, 4, 13, 20, 9, 15, 14]
        )
    }

    @Test func advancingForgetsWhatWasBefore() {
        var random = sample
        let key = random.key
        random.advance()
        #expect(random.key != key)
    }
}

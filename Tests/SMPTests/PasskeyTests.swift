import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import SMP

/// A device that displays passkeys in repeated attempts.
@Suite struct PasskeyTests {
    /// A displaying device and an entering one, for any number of attempts.
    static func bench(_ shows: PairingRole, isLegacy: Bool) -> PairingBench {
        func configuration(_ role: PairingRole) -> PairingConfiguration {
            var configuration = LegacyPairingTests.configuration(role == shows ? .displayOnly : .keyboardOnly)
            if isLegacy { configuration.legacy = .only }
            return configuration
        }
        return PairingBench(initiator: configuration(.initiator), responder: configuration(.responder))
    }

    static func passkeys(_ side: PairingBench.Side) -> [UInt32] {
        side.prompts.compactMap { if case .showPasskey(let passkey) = $0 { passkey } else { nil } }
    }

    /// Each attempt reveals one bit of its passkey: the round in which it fails. A device that displays the same
    /// passkey again is broken after 20 attempts (Core Vol 3 Part H 2.3.6).
    @Test(
        "SM/CEN/SCPK/BV-05, AB-S13: bits learned in one attempt do not help in the next",
        arguments: [PairingRole.initiator, .responder]
    )
    func bits_of_one_attempt_do_not_help_in_the_next(shows: PairingRole) {
        var bench = Self.bench(shows, isLegacy: false)
        var guess: UInt32 = 0
        var furthest = 0
        for attempt in 1...60 {
            bench[shows.other].person.entered = guess
            let before = bench[shows].sent.count
            bench.pair()
            #expect(bench[shows].result == nil && bench[shows.other].result == nil, "attempt \(attempt)")
            #expect(Self.passkeys(bench[shows]).count == attempt)
            let rounds = bench[shows].sent[before...].count { $0.code == .pairingConfirm }
            // All rounds before the last one were right, so the bit of the last one has to be flipped.
            guess ^= 1 << UInt32(rounds - 1)
            furthest = max(furthest, rounds)
        }
        let passkeys = Self.passkeys(bench[shows])
        #expect(Set(passkeys).count == passkeys.count)
        #expect(furthest < PasskeyRounds.count)
    }

    /// Statistics of a thousand attempts with one device: a good source passes each test 999 times out of 1,000.
    @Test(
        "SM/CEN/PKE/BV-05, AB-S13: passkeys are fresh and spread over all numbers",
        arguments: [PairingRole.initiator, .responder],
        [false, true]
    )
    func passkeys_are_fresh_and_spread_over_all_numbers(shows: PairingRole, isLegacy: Bool) {
        var bench = Self.bench(shows, isLegacy: isLegacy)
        bench[shows.other].person.accepts = false
        for _ in 0..<1_000 { bench.pair() }
        let passkeys = Self.passkeys(bench[shows])
        #expect(passkeys.count == 1_000)
        #expect(passkeys.allSatisfy { $0 <= 999_999 })
        // A thousand draws out of a million contain half a duplicate on average.
        #expect(Set(passkeys).count >= 996)
        let steps = zip(passkeys, passkeys.dropFirst()).map { ($1 + 1_000_000 - $0) % 1_000_000 }
        #expect(Self.isSpread(passkeys.map { $0 / 100_000 }), "the first digit")
        #expect(Self.isSpread(passkeys.map { $0 % 10 }), "the last digit")
        #expect(Self.isSpread(steps.map { $0 / 100_000 }), "the first digit of the difference")
        #expect(Self.isSpread(steps.map { $0 % 10 }), "the last digit of the difference")
        for bit in 0..<PasskeyRounds.count {
            // The share of ones among the million numbers, and four standard deviations.
            let rest = max(1_000_000 % (2 << bit) - 1 << bit, 0)
            let share = Double((1_000_000 >> (bit + 1)) << bit + rest) / 1_000_000
            let deviation = (1_000 * share * (1 - share)).squareRoot()
            let ones = Double(passkeys.count { $0 >> UInt32(bit) & 1 == 1 })
            #expect(abs(ones - 1_000 * share) < 4 * deviation, "bit \(bit)")
        }
    }

    /// Seeds whose first number gives the greatest passkey, the least, and one that would exceed the greatest if the
    /// range were larger by one.
    @Test(
        "AB-S13: a passkey may be any of a million numbers and no other",
        arguments: [(1_035_962, 999_999), (965_768, 0), (1_265_837, 949_519)] as [(UInt64, UInt32)]
    )
    func a_passkey_may_be_any_of_a_million_numbers_and_no_other(seed: UInt64, passkey: UInt32) throws {
        let features = PairingFeatures()
        let setting = ExchangeSetting(
            negotiation: try PairingNegotiation(
                role: .initiator,
                initiator: features,
                responder: features,
                configuration: PairingConfiguration()
            ),
            initiatorAddress: PairingBench.central,
            responderAddress: PairingBench.peripheral,
            random: RandomSource(seed: seed),
            peerData: nil
        )
        #expect(setting.passkey() == passkey)
        // A random value is not a constant.
        let blocks = (0..<20).map { _ in setting.block() }
        #expect(Set(blocks).count == 20)
    }

    /// Chi-squared over ten bins, 9 degrees of freedom: below 27.9 in 999 of 1,000 cases.
    private static func isSpread(_ digits: [UInt32]) -> Bool {
        let mean = Double(digits.count) / 10
        let squares = (0..<10 as Range<UInt32>).map { digit in Double(digits.count { $0 == digit }) - mean }
        return squares.reduce(0) { $0 + $1 * $1 / mean } < 27.9
    }
}

import Testing

@testable import SMP

/// The 20 rounds in which LE Secure Connections prove a passkey (Core Vol 3 Part H 2.3.5.6.3).
@Suite struct PasskeyRoundTests {
    /// Both ends share one constant, so the rounds are counted on the wire.
    @Test(arguments: [PairingRole.initiator, .responder])
    func twenty_rounds_and_then_the_check(shows: PairingRole) throws {
        var bench = PasskeyTests.bench(shows, isLegacy: false)
        bench.pair()
        #expect(bench.initiator.result?.isAuthenticated == true)
        #expect(bench.responder.result?.isAuthenticated == true)
        let rounds = (1...20).flatMap { _ in [SMPCode.pairingConfirm, .pairingRandom] }
        for (role, first) in [(PairingRole.initiator, SMPCode.pairingRequest), (.responder, .pairingResponse)] {
            let codes = bench[role].sent.map(\.code)
            #expect(Array(codes.prefix(43)) == [first, .pairingPublicKey] + rounds + [.pairingDHKeyCheck])
            // Only keys follow the check.
            let keys: Set<SMPCode> = [.identityInformation, .identityAddressInformation, .signingInformation]
            #expect(keys.isSuperset(of: codes.dropFirst(43)))
        }
    }

    /// Each round has a random value of its own; otherwise an eavesdropper could predict the next confirm value.
    @Test(arguments: [PairingRole.initiator, .responder])
    func each_round_has_a_random_value_of_its_own(shows: PairingRole) {
        var bench = PasskeyTests.bench(shows, isLegacy: false)
        bench.pair()
        for side in [bench.initiator, bench.responder] {
            let values = side.sent.compactMap { if case .random(let packet) = $0 { packet.value } else { nil } }
            #expect(values.count == 20)
            #expect(Set(values).count == 20)
        }
    }

    /// A peer that reflects the initiator's own value knows no passkey, and learns nothing about the initiator's.
    @Test(
        "AB-S02: our own confirm value reflected ends the pairing before anything is revealed",
        arguments: [PairingRole.initiator, .responder]
    )
    func our_own_confirm_value_ends_it_before_anything_is_shown(shows: PairingRole) {
        var bench = PasskeyTests.bench(shows, isLegacy: false)
        LegacyPairingTests.echo(&bench, .pairingConfirm)
        bench.pair()
        #expect(bench.initiator.error == .refused(.confirmValueFailed))
        #expect(!bench.initiator.sent.contains { $0.code == .pairingRandom })
    }

    /// Least significant bit first, plus 0x80. 999,999 is 1111 0100 0010 0011 1111.
    @Test(
        arguments: [
            (999_999, [1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1]),
            (1, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (524_288, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ] as [(UInt32, [UInt8])]
    )
    func a_round_shows_one_bit(passkey: UInt32, bits: [UInt8]) {
        var shown: [UInt8] = []
        var rounds: PasskeyRounds? = PasskeyRounds(passkey: passkey)
        while let round = rounds {
            shown.append(round.bit)
            rounds = round.next
        }
        #expect(shown == bits.map { 0x80 | $0 })
    }
}

import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import SMP

/// LE Secure Connections, with every association model.
@Suite struct SecureConnectionsTests {
    static let both = [PairingRole.initiator, .responder]

    static func bench(
        _ initiator: IOCapability,
        _ responder: IOCapability,
        protection: Bool = true,
        persons: (PairingBench.Person, PairingBench.Person) = (.init(), .init()),
        seed: UInt64 = 1,
        change: (PairingRole, inout PairingMachine.Context) -> Void = { _, _ in }
    ) -> PairingBench {
        PairingBench(
            initiator: LegacyPairingTests.configuration(initiator, protection: protection),
            responder: LegacyPairingTests.configuration(responder, protection: protection),
            initiatorPerson: persons.0,
            responderPerson: persons.1,
            seed: seed,
            change: change
        )
    }

    // MARK: Just Works and numeric comparison

    @Test("SM/CEN/SCJW/BV-01, SM/PER/SCJW/BV-02: Just Works of Secure Connections gives an unauthenticated key")
    func just_works_gives_a_key_that_is_not_authenticated() throws {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput)
        bench.pair()
        let (a, b) = (try #require(bench.initiator.result), try #require(bench.responder.result))
        #expect(a.isSecureConnections)
        #expect(!a.isAuthenticated)
        #expect(a.linkKey == b.linkKey)
    }

    @Test("SM/CEN/SCJW/BI-01, SM/PER/SCJW/BI-02: wrong values end Just Works of Secure Connections", arguments: both)
    func wrong_values_end_it(liar: PairingRole) {
        let last: [(SMPCode, PairingFailure)] =
            liar == .responder
            ? [
                (.pairingConfirm, .confirmValueFailed), (.pairingRandom, .confirmValueFailed),
                (.pairingDHKeyCheck, .dhKeyCheckFailed),
            ]
            : [(.pairingRandom, .dhKeyCheckFailed), (.pairingDHKeyCheck, .dhKeyCheckFailed)]
        for (code, reason) in last {
            var bench = Self.bench(.noInputNoOutput, .noInputNoOutput)
            bench.tamper = LegacyPairingTests.change(code, of: liar, at: 3)
            bench.pair()
            #expect(bench.initiator.result == nil)
            #expect(bench.responder.result == nil)
            let errors = [bench.initiator.error, bench.responder.error]
            #expect(errors.contains(.refused(reason)))
            #expect(errors.contains(.refusedByPeer(reason)))
        }
    }

    @Test("numeric comparison displays the same number on both sides and gives an authenticated key")
    func numeric_comparison_shows_both_the_same_number() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var bench = Self.bench(.displayYesNo, .keyboardDisplay, seed: seed)
            bench.pair()
            #expect(bench.initiator.prompts == bench.responder.prompts)
            guard case .compare(let number)? = bench.initiator.prompts.first else {
                Issue.record("no user was asked to compare")
                return
            }
            #expect(number <= 999_999)
            #expect(try #require(bench.responder.result).isAuthenticated)
        }
    }

    @Test(arguments: both)
    func a_person_who_sees_another_number_ends_it(refuser: PairingRole) {
        let refuses = PairingBench.Person(accepts: false)
        var bench = Self.bench(
            .displayYesNo,
            .displayYesNo,
            persons: refuser == .initiator ? (refuses, .init()) : (.init(), refuses)
        )
        bench.pair()
        #expect(bench[refuser].error == .refused(.numericComparisonFailed))
        #expect(bench[refuser.other].error == .refusedByPeer(.numericComparisonFailed))
        #expect(!bench.initiator.isPromptOpen)
        #expect(!bench.responder.isPromptOpen)
    }

    // MARK: Passkey

    @Test(
        "SM/CEN/SCPK/BV-01, SM/PER/SCPK/BV-02: a passkey of Secure Connections gives an authenticated key",
        arguments: [
            (IOCapability.keyboardOnly, IOCapability.displayOnly), (.displayOnly, .keyboardOnly),
            (.keyboardOnly, .keyboardOnly),
        ]
    )
    func a_passkey_gives_an_authenticated_key(initiator: IOCapability, responder: IOCapability) throws {
        for entered in [nil, 0, 1, 999_999, 524_288] as [UInt32?] where entered == nil || initiator == responder {
            var bench = Self.bench(
                initiator,
                responder,
                persons: (.init(entered: entered), .init(entered: entered))
            )
            bench.pair()
            let result = try #require(bench.initiator.result)
            #expect(result.isAuthenticated)
            #expect(result.isSecureConnections)
            #expect(result.linkKey == bench.responder.result?.linkKey)
            #expect(bench.initiator.sent.count { $0.code == .pairingConfirm } == PasskeyRounds.count)
        }
    }

    @Test(
        "SM/CEN/SCPK/BI-02, SM/PER/SCPK/BI-04: one wrong bit of a passkey ends the pairing in its round",
        arguments: 0..<20
    )
    func one_wrong_bit_ends_it_in_its_round(bit: Int) {
        let right: UInt32 = 0x5_5555
        var bench = Self.bench(
            .keyboardOnly,
            .keyboardOnly,
            persons: (.init(entered: right), .init(entered: right ^ 1 << UInt32(bit)))
        )
        guard right ^ 1 << UInt32(bit) <= 999_999 else { return }
        bench.pair()
        #expect(bench.responder.error == .refused(.confirmValueFailed))
        #expect(bench.initiator.error == .refusedByPeer(.confirmValueFailed))
        #expect(bench.initiator.sent.count { $0.code == .pairingConfirm } == bit + 1)
    }

    @Test("SM/CEN/SCPK/BI-01, SM/PER/SCPK/BI-03: a user who abandons passkey entry ends the pairing", arguments: both)
    func a_person_who_gives_up_ends_it(quitter: PairingRole) {
        let quits = PairingBench.Person(accepts: false)
        var bench = Self.bench(
            .keyboardOnly,
            .keyboardOnly,
            persons: quitter == .initiator ? (quits, .init()) : (.init(), quits)
        )
        bench.pair()
        #expect(bench[quitter].error == .refused(.passkeyEntryFailed))
        #expect(bench[quitter.other].error == .refusedByPeer(.passkeyEntryFailed))
    }

    // MARK: Out of band

    struct Data {
        let random = RandomSource(seed: 7)
        let initiator: OwnOutOfBandData
        let responder: OwnOutOfBandData

        init() throws {
            func own(_ random: RandomSource) throws -> OwnOutOfBandData {
                let keys = try #require(P256KeyPair(random: random.bytes))
                return OwnOutOfBandData(keyPair: keys, random: try #require(Block128(random.bytes(16))))
            }
            initiator = try own(random)
            responder = try own(random)
        }

        subscript(role: PairingRole) -> OwnOutOfBandData { role == .initiator ? initiator : responder }
    }

    @Test(
        "SM/CEN/SCOB/BV-01, SM/PER/SCOB/BV-02: out-of-band data on one side or both give an authenticated key",
        arguments: [[PairingRole.initiator], [.responder], [.initiator, .responder]]
    )
    func data_of_one_side_or_both_gives_an_authenticated_key(informed: [PairingRole]) throws {
        let data = try Data()
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput) { role, context in
            context.ownData = data[role]
            if informed.contains(role) { context.peerData = data[role.other].shared }
        }
        bench.pair()
        let result = try #require(bench.initiator.result, "\(String(describing: bench.initiator.error))")
        #expect(result.isAuthenticated)
        #expect(result.linkKey == bench.responder.result?.linkKey)
        #expect(bench.initiator.prompts.isEmpty)
        #expect(bench.responder.prompts.isEmpty)
    }

    @Test("SM/CEN/SCOB/BI-01, SM/PER/SCOB/BI-02: out-of-band data of another device end the pairing", arguments: both)
    func data_of_somebody_else_end_it(informed: PairingRole) throws {
        let data = try Data()
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput) { role, context in
            context.ownData = data[role]
            if role == informed { context.peerData = data[role].shared }
        }
        bench.pair()
        #expect(bench[informed].error == .refused(.confirmValueFailed))
        #expect(bench[informed.other].error == .refusedByPeer(.confirmValueFailed))
    }

    @Test(
        "SM/CEN/SCOB/BI-04, SM/PER/SCOB/BI-03: a peer without the out-of-band data attributed to it ends the pairing",
        arguments: both
    )
    func a_peer_without_the_data_that_it_is_said_to_have_ends_it(claimant: PairingRole) throws {
        let data = try Data()
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput) { role, context in
            // This side claims to have data from the peer, which gave none.
            if role == claimant { context.peerData = data[role.other].shared }
        }
        bench.pair()
        #expect(bench.initiator.result == nil)
        #expect(bench.responder.result == nil)
        #expect(bench[claimant].error != nil)
    }

    // MARK: Keys

    @Test(
        "SM/CEN/KDU/BV-10, SM/CEN/KDU/BV-11, SM/PER/KDU/BV-08, SM/PER/KDU/BV-09: Secure Connections distributes the agreed keys",
        arguments: [KeyKinds.identity, .signing, [.identity, .signing], []]
    )
    func keys_go_as_agreed(kinds: KeyKinds) throws {
        var configuration = LegacyPairingTests.configuration(.noInputNoOutput)
        configuration.givenKeys = kinds.union(.encryption)
        configuration.wantedKeys = kinds.union(.encryption)
        var bench = PairingBench(initiator: configuration, responder: configuration)
        bench.pair()
        let (a, b) = (try #require(bench.initiator.result), try #require(bench.responder.result))
        #expect(a.peerKeys.kinds == kinds)
        #expect(a.peerKeys == b.ownKeys)
        #expect(b.peerKeys == a.ownKeys)
    }

    @Test(
        "SM/CEN/KDU/BI-01, SM/PER/KDU/BI-01, SM/CEN/KDU/BI-04, SM/PER/KDU/BI-04, AB-S01: a public key off the curve ends the pairing",
        arguments: both
    )
    func a_key_off_the_curve_ends_it(liar: PairingRole) {
        for change in [
            { $0[64] ^= 1 }, { $0.replaceSubrange(33..., with: [UInt8](repeating: 0, count: 32)) },
            { $0.replaceSubrange(1..., with: [UInt8](repeating: 0, count: 64)) }, { $0[1] ^= 0x80 },
        ] as [(inout [UInt8]) -> Void] {
            var bench = Self.bench(.displayYesNo, .displayYesNo)
            bench.tamper = { role, command in
                var octets = command.framed().bytes
                if role == liar, command.code == .pairingPublicKey { change(&octets) }
                return [octets]
            }
            bench.pair()
            #expect(bench[liar.other].error == .refused(.invalidParameters))
            #expect(bench[liar.other].prompts.isEmpty)
        }
    }

    @Test("AB-S02: our own public key reflected ends the pairing, with either y")
    func our_own_public_key_sent_back_ends_it_with_either_y() {
        for isFlipped in [false, true] {
            var bench = Self.bench(.displayYesNo, .displayYesNo)
            let echo = Echo()
            bench.tamper = { role, command in
                guard command.code == .pairingPublicKey else { return [command.framed().bytes] }
                if role == .initiator { echo.octets = command.framed().bytes }
                var octets = echo.octets
                if role == .responder, isFlipped { octets[40] ^= 1 }
                return [octets]
            }
            bench.pair()
            #expect(bench.initiator.error == .refused(.invalidParameters))
            #expect(!bench.initiator.sent.contains { $0.code == .pairingRandom })
        }
    }

    private final class Echo { var octets: [UInt8] = [] }

    @Test("AB-S03: the debug key is refused except in debug mode")
    func the_debug_key_is_refused_unless_debugging() throws {
        var debugging = LegacyPairingTests.configuration(.displayYesNo)
        debugging.isDebugMode = true
        var bench = PairingBench(initiator: debugging, responder: LegacyPairingTests.configuration(.displayYesNo))
        bench.pair()
        #expect(bench.responder.error == .refused(.invalidParameters))
        bench = PairingBench(initiator: debugging, responder: debugging)
        bench.pair()
        #expect(bench.responder.result != nil)
    }
}

// MARK: Command sequence

extension SecureConnectionsTests {
    @Test("SM/CEN/PROT/BV-01, SM/PER/PROT/BV-02, AB-S12: a time-out ends pairing on the link for good")
    func a_timeout_ends_pairing_on_the_link_for_good() {
        for role in Self.both {
            var bench = Self.bench(.displayYesNo, .displayYesNo)
            bench.tamper = { _, command in command.code == .pairingPublicKey ? [] : [command.framed().bytes] }
            bench.pair()
            #expect(bench[role].isTimerRunning)
            bench.handle(.timeout, at: role)
            #expect(bench[role].error == .timedOut)
            let sent = bench[role].sent.count
            bench.handle(.start(PairingDemand()), at: role)
            bench.inject(PairingRequest(PairingFeatures()).framed().bytes, to: role)
            bench.inject([0x0B, 0x09], to: role)
            #expect(bench[role].sent.count == sent)
        }
    }

    @Test("AB-S07: Secure Connections Only refuses legacy pairing in both roles")
    func secure_connections_only_refuses_legacy_in_both_roles() {
        for strict in Self.both {
            var sides = (
                LegacyPairingTests.configuration(.displayYesNo), LegacyPairingTests.configuration(.displayYesNo)
            )
            if strict == .initiator {
                (sides.0.legacy, sides.1.legacy) = (.refused, .only)
            } else {
                (sides.0.legacy, sides.1.legacy) = (.only, .refused)
            }
            var bench = PairingBench(initiator: sides.0, responder: sides.1)
            bench.pair()
            #expect(bench[strict].error == .refused(.authenticationRequirements))
        }
    }

    @Test("AB-S12: a second Pairing Request in the middle ends the first pairing")
    func a_second_request_in_the_middle_ends_the_first() {
        var bench = Self.bench(.displayYesNo, .displayYesNo, persons: (.init(), .init()))
        bench.tamper = { role, command in
            let request = PairingRequest(PairingFeatures()).framed().bytes
            return role == .initiator && command.code == .pairingRandom ? [request] : [command.framed().bytes]
        }
        bench.pair()
        #expect(bench.responder.error == .refused(.unspecifiedReason))
    }

    @Test("commands truncated at every octet end the pairing with invalid parameters")
    func commands_cut_at_every_octet_end_the_pairing() {
        for code in [SMPCode.pairingRequest, .pairingPublicKey, .pairingRandom, .pairingDHKeyCheck] {
            for length in 1..<17 {
                var bench = Self.bench(.noInputNoOutput, .noInputNoOutput)
                bench.tamper = { role, command in
                    let octets = command.framed().bytes
                    return role == .initiator && command.code == code && length < octets.count
                        ? [Array(octets.prefix(length))] : [octets]
                }
                bench.pair()
                let isCut = length < (code == .pairingRequest ? 7 : 17)
                #expect(isCut == (bench.responder.error == .refused(.invalidParameters)))
            }
        }
    }

    @Test("a responder requests security and the initiator acts on it once")
    func a_security_request_is_heard_once() {
        var bench = Self.bench(.displayYesNo, .displayYesNo)
        bench.inject(SecurityRequest([.bonding]).framed().bytes, to: .initiator)
        #expect(bench.initiator.securityRequests == 1)
    }
}

import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Legacy pairing, used if the peer supports nothing else.
@Suite struct LegacyPairingTests {
    static func configuration(_ capability: IOCapability, protection: Bool = true) -> PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.ioCapability = capability
        configuration.wantsProtection = protection
        return configuration
    }

    /// A bench in which `legacy` does not support LE Secure Connections.
    static func bench(
        _ initiator: IOCapability,
        _ responder: IOCapability,
        legacy: PairingRole,
        protection: Bool = true,
        persons: (PairingBench.Person, PairingBench.Person) = (.init(), .init()),
        change: (PairingRole, inout PairingMachine.Context) -> Void = { _, _ in }
    ) -> PairingBench {
        var sides = (configuration(initiator, protection: protection), configuration(responder, protection: protection))
        if legacy == .initiator { sides.0.legacy = .only } else { sides.1.legacy = .only }
        return PairingBench(
            initiator: sides.0,
            responder: sides.1,
            initiatorPerson: persons.0,
            responderPerson: persons.1,
            change: change
        )
    }

    static let both = [PairingRole.initiator, .responder]

    @Test("SM/CEN/JW/BV-01, SM/PER/JW/BV-02: legacy Just Works gives an unauthenticated key", arguments: both)
    func just_works_gives_a_key_that_is_not_authenticated(legacy: PairingRole) throws {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: legacy)
        bench.pair()
        let result = try #require(bench[legacy.other].result)
        #expect(!result.isAuthenticated)
        #expect(!result.isSecureConnections)
        #expect(result.keySize == 16)
        #expect(bench.initiator.result?.linkKey == bench.responder.result?.linkKey)
    }

    @Test("SM/CEN/JW/BV-05: a central that requires protection fails where only Just Works is possible")
    func a_central_that_needs_protection_refuses_just_works() {
        var central = Self.configuration(.keyboardDisplay)
        central.requiresProtection = true
        var bench = PairingBench(initiator: central, responder: Self.configuration(.noInputNoOutput))
        bench.pair()
        #expect(bench.initiator.error == .refused(.authenticationRequirements))
        #expect(bench.responder.error == .refusedByPeer(.authenticationRequirements))
    }

    @Test("SM/CEN/JW/BI-01, SM/PER/JW/BI-02: a wrong confirm value ends legacy Just Works", arguments: both)
    func a_wrong_confirm_value_ends_it(liar: PairingRole) {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder)
        bench.tamper = Self.change(.pairingConfirm, of: liar, at: 5)
        bench.pair()
        #expect(bench[liar.other].error == .refused(.confirmValueFailed))
        #expect(bench[liar].error == .refusedByPeer(.confirmValueFailed))
        #expect(bench[liar].result == nil && bench[liar.other].result == nil)
    }

    /// Returns a tamper function that flips a bit in one kind of command.
    static func change(
        _ code: SMPCode,
        of liar: PairingRole,
        at index: Int
    ) -> (PairingRole, SMPCommand) -> [[UInt8]] {
        { role, command in
            var octets = command.framed().bytes
            if role == liar, command.code == code { octets[index] ^= 1 }
            return [octets]
        }
    }

    @Test("SM/CEN/JW/BI-06, AB-S02: our own confirm value reflected ends legacy Just Works")
    func our_own_confirm_value_sent_back_ends_it() {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder)
        Self.echo(&bench, .pairingConfirm)
        bench.pair()
        #expect(bench.initiator.error == .refused(.confirmValueFailed))
        #expect(!bench.initiator.sent.contains { $0.code == .pairingRandom })
    }

    @Test("SM/CEN/PKE/BI-03, AB-S02: our own confirm value reflected ends legacy passkey entry")
    func our_own_confirm_value_sent_back_ends_passkey_entry() {
        var bench = Self.bench(.displayOnly, .keyboardOnly, legacy: .responder)
        Self.echo(&bench, .pairingConfirm)
        bench.pair()
        #expect(bench.initiator.error == .refused(.confirmValueFailed))
    }

    /// Replaces the responder's commands of one kind with the initiator's last command of that kind.
    static func echo(_ bench: inout PairingBench, _ code: SMPCode) {
        let heard = Heard()
        bench.tamper = { role, command in
            if role == .initiator, command.code == code { heard.octets = command.framed().bytes }
            return [role == .responder && command.code == code ? heard.octets : command.framed().bytes]
        }
    }

    private final class Heard { var octets: [UInt8] = [] }

    @Test(
        "SM/CEN/PKE/BV-01, SM/PER/PKE/BV-02: a legacy passkey gives an authenticated key",
        arguments: [
            (IOCapability.keyboardOnly, IOCapability.displayOnly), (.displayOnly, .keyboardOnly),
            (.keyboardOnly, .keyboardOnly),
        ]
    )
    func a_passkey_gives_an_authenticated_key(initiator: IOCapability, responder: IOCapability) throws {
        for legacy in Self.both {
            var bench = Self.bench(initiator, responder, legacy: legacy)
            bench.pair()
            #expect(try #require(bench.initiator.result).isAuthenticated)
            #expect(bench.initiator.result?.linkKey == bench.responder.result?.linkKey)
        }
    }

    @Test("SM/CEN/PKE/BV-04, SM/PER/PKE/BV-05: a peer without MITM protection gets an unauthenticated legacy key")
    func a_peer_that_cannot_protect_gets_a_weaker_key() throws {
        for (initiator, responder) in [
            (IOCapability.keyboardDisplay, IOCapability.noInputNoOutput), (.noInputNoOutput, .keyboardDisplay),
        ] {
            var bench = Self.bench(initiator, responder, legacy: .responder)
            bench.pair()
            #expect(try #require(bench.initiator.result).isAuthenticated == false)
            #expect(try #require(bench.responder.result).isAuthenticated == false)
        }
    }

    @Test("SM/CEN/PKE/BI-01, SM/PER/PKE/BI-03: a wrong passkey ends legacy pairing", arguments: both)
    func a_wrong_passkey_ends_it(wrong: PairingRole) {
        let wrongPerson = PairingBench.Person(entered: 424_242)
        var bench = Self.bench(
            wrong == .initiator ? .keyboardOnly : .displayOnly,
            wrong == .initiator ? .displayOnly : .keyboardOnly,
            legacy: .responder,
            persons: (wrongPerson, wrongPerson)
        )
        bench.pair()
        #expect(bench.responder.error == .refused(.confirmValueFailed))
        #expect(bench.initiator.error == .refusedByPeer(.confirmValueFailed))
    }

    @Test("SM/CEN/PKE/BI-02: passkey entry that the peer's user abandons ends legacy pairing")
    func entry_that_the_peer_gives_up_ends_it() {
        var bench = Self.bench(
            .displayOnly,
            .keyboardOnly,
            legacy: .responder,
            persons: (.init(), .init(accepts: false))
        )
        bench.pair()
        #expect(bench.initiator.error == .refusedByPeer(.passkeyEntryFailed))
        #expect(bench.responder.error == .refused(.passkeyEntryFailed))
        #expect(!bench.initiator.isPromptOpen)
        #expect(!bench.responder.isPromptOpen)
    }
}

// MARK: Out of band, key sizes, keys

extension LegacyPairingTests {
    static let temporaryKey = Key128(Block128(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210))

    @Test("SM/CEN/OOB/BV-01, SM/PER/OOB/BV-02: out-of-band data on both sides give an authenticated legacy key")
    func data_that_both_have_gives_an_authenticated_key() throws {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder) {
            $1.peerData = .legacy(Self.temporaryKey)
        }
        bench.pair()
        #expect(try #require(bench.initiator.result).isAuthenticated)
        #expect(bench.initiator.prompts.isEmpty)
        #expect(bench.responder.prompts.isEmpty)
        #expect(bench.initiator.result?.linkKey == bench.responder.result?.linkKey)
    }

    @Test(
        "SM/CEN/OOB/BV-03, SM/PER/OOB/BV-04, SM/CEN/OOB/BV-05, SM/PER/OOB/BV-06: out-of-band data on one side only lead to a passkey in legacy pairing",
        arguments: both
    )
    func data_of_one_side_leaves_a_passkey(informed: PairingRole) throws {
        var bench = Self.bench(.displayOnly, .keyboardOnly, legacy: .responder) { role, context in
            if role == informed { context.peerData = .legacy(Self.temporaryKey) }
        }
        bench.pair()
        #expect(bench.initiator.prompts.map(PairingTests.kind) == ["show"])
        #expect(try #require(bench.responder.result).isAuthenticated)
    }

    @Test(
        "SM/CEN/OOB/BV-07, SM/PER/OOB/BV-08, SM/CEN/OOB/BV-09, SM/PER/OOB/BV-10: out-of-band data on one side only lead to Just Works in legacy pairing",
        arguments: both
    )
    func data_of_one_side_leaves_just_works(informed: PairingRole) throws {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder) { role, context in
            if role == informed { context.peerData = .legacy(Self.temporaryKey) }
        }
        bench.pair()
        #expect(try #require(bench.responder.result).isAuthenticated == false)
    }

    @Test("SM/CEN/OOB/BI-01, SM/PER/OOB/BI-02: different out-of-band data end legacy pairing")
    func data_that_differ_end_it() {
        var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder) { role, context in
            context.peerData = .legacy(role == .initiator ? Self.temporaryKey : .zero)
        }
        bench.pair()
        #expect(bench.responder.error == .refused(.confirmValueFailed))
        #expect(bench.initiator.error == .refusedByPeer(.confirmValueFailed))
    }

    @Test("SM/CEN/EKS/BV-01, SM/PER/EKS/BV-02: a legacy key of the minimum size is accepted", arguments: both, 7...16)
    func a_key_of_the_least_size_is_accepted(short: PairingRole, size: Int) throws {
        var sides = (Self.configuration(.noInputNoOutput), Self.configuration(.noInputNoOutput))
        sides.1.legacy = .only
        sides.0.minimumKeySize = size
        sides.1.minimumKeySize = size
        if short == .initiator { sides.0.maximumKeySize = size } else { sides.1.maximumKeySize = size }
        var bench = PairingBench(initiator: sides.0, responder: sides.1)
        bench.pair()
        let result = try #require(bench.initiator.result)
        #expect(result.keySize == size)
        #expect(result.linkKey.bytes.prefix(16 - size).allSatisfy { $0 == 0 })
        #expect(result.linkKey == bench.responder.result?.linkKey)
        #expect(result.ownKeys.encryption?.key.bytes.prefix(16 - size).allSatisfy { $0 == 0 } == true)
    }

    @Test("SM/CEN/EKS/BI-01, SM/PER/EKS/BI-02, AB-S04: a key shorter than the minimum size is refused", arguments: both)
    func a_shorter_key_is_refused(short: PairingRole) {
        var sides = (Self.configuration(.noInputNoOutput), Self.configuration(.noInputNoOutput))
        if short == .initiator {
            (sides.0.maximumKeySize, sides.0.minimumKeySize) = (15, 7)
        } else {
            (sides.1.maximumKeySize, sides.1.minimumKeySize) = (15, 7)
        }
        var bench = PairingBench(initiator: sides.0, responder: sides.1)
        bench.pair()
        #expect(bench[short.other].error == .refused(.encryptionKeySize))
        #expect(bench[short].error == .refusedByPeer(.encryptionKeySize))
    }

    @Test("AB-S04: a key size out of range is an invalid parameter", arguments: [0, 5, 6, 17, 255] as [UInt8])
    func a_key_size_out_of_range_is_an_invalid_parameter(size: UInt8) {
        for liar in Self.both {
            var bench = Self.bench(.noInputNoOutput, .noInputNoOutput, legacy: .responder)
            bench.tamper = { role, command in
                var octets = command.framed().bytes
                if role == liar, octets[0] <= 0x02 { octets[4] = size }
                return [octets]
            }
            bench.pair()
            #expect(bench[liar.other].error == .refused(.invalidParameters))
        }
    }

    @Test(
        "SM/CEN/KDU/BV-04, SM/CEN/KDU/BV-05, SM/CEN/KDU/BV-06, SM/PER/KDU/BV-01, SM/PER/KDU/BV-02, SM/PER/KDU/BV-03: legacy pairing distributes the agreed keys",
        arguments: [
            KeyKinds.encryption, .identity, .signing, [.encryption, .identity], [.encryption, .identity, .signing], [],
        ]
    )
    func keys_go_as_agreed(kinds: KeyKinds) throws {
        var sides = (Self.configuration(.noInputNoOutput), Self.configuration(.noInputNoOutput))
        sides.1.legacy = .only
        for asked in Self.both {
            let all: KeyKinds = [.encryption, .identity, .signing]
            (sides.0.givenKeys, sides.0.wantedKeys) = asked == .initiator ? (kinds, kinds) : (all, all)
            (sides.1.givenKeys, sides.1.wantedKeys) = asked == .responder ? (kinds, kinds) : (all, all)
            var bench = PairingBench(initiator: sides.0, responder: sides.1)
            bench.pair()
            let (a, b) = (try #require(bench.initiator.result), try #require(bench.responder.result))
            #expect(a.peerKeys.kinds == kinds)
            #expect(b.peerKeys.kinds == kinds)
            #expect(a.peerKeys == b.ownKeys)
            #expect(b.peerKeys == a.ownKeys)
        }
    }

    /// A bond consists of the key that encrypts later links. Signing or identity keys alone are no bond: neither side
    /// could prove it, and it would keep the two from pairing again.
    @Test(
        "pairing without a long-term key in either direction makes no bond",
        arguments: [KeyKinds.identity, .signing, [.identity, .signing], []],
        both
    )
    func pairing_without_a_long_term_key_is_no_bond(kinds: KeyKinds, miser: PairingRole) throws {
        var sides = (Self.configuration(.noInputNoOutput), Self.configuration(.noInputNoOutput))
        sides.1.legacy = .only
        let all: KeyKinds = [.encryption, .identity, .signing]
        (sides.0.givenKeys, sides.0.wantedKeys) = miser == .initiator ? (kinds, kinds) : (all, all)
        (sides.1.givenKeys, sides.1.wantedKeys) = miser == .responder ? (kinds, kinds) : (all, all)
        var bench = PairingBench(initiator: sides.0, responder: sides.1)
        bench.pair()
        for role in Self.both { #expect(try #require(bench[role].result).isBonding == false) }
        // A key in one direction suffices.
        if miser == .initiator { sides.0.givenKeys.insert(.encryption) } else { sides.1.givenKeys.insert(.encryption) }
        bench = PairingBench(initiator: sides.0, responder: sides.1)
        bench.pair()
        for role in Self.both { #expect(try #require(bench[role].result).isBonding) }
    }
}

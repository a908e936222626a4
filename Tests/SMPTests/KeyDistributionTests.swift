import BluetoothTypes
import Cryptography
import LoopbackLinks
import Testing

@testable import SMP

/// A peer that distributes keys other than agreed, or invalid ones (Core Vol 3 Part H 2.4.3, 3.6).
@Suite struct KeyDistributionTests {
    static let both = [PairingRole.initiator, .responder]
    static let all: [SMPCode: [UInt8]] = [
        .encryptionInformation: [0x06] + [UInt8](repeating: 0xA5, count: 16),
        .centralIdentification: [0x07] + [UInt8](repeating: 0xA5, count: 10),
        .identityInformation: [0x08] + [UInt8](repeating: 0xA5, count: 16),
        .identityAddressInformation: [0x09, 1, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xC5],
        .signingInformation: [0x0A] + [UInt8](repeating: 0xA5, count: 16),
    ]

    /// A bench in which `kinds` are distributed in both directions.
    static func bench(_ kinds: KeyKinds, isLegacy: Bool) -> PairingBench {
        var configuration = LegacyPairingTests.configuration(.noInputNoOutput)
        if isLegacy { configuration.legacy = .only }
        configuration.givenKeys = kinds
        configuration.wantedKeys = kinds
        return PairingBench(initiator: configuration, responder: configuration)
    }

    /// The commands of a peer that distributes `kinds`.
    static func codes(_ kinds: KeyKinds, isLegacy: Bool) -> [SMPCode] {
        (kinds.contains(.encryption) && isLegacy ? [.encryptionInformation, .centralIdentification] : [])
            + (kinds.contains(.identity) ? [.identityInformation, .identityAddressInformation] : [])
            + (kinds.contains(.signing) ? [.signingInformation] : [])
    }

    static let kinds: [KeyKinds] = [
        [.encryption, .identity, .signing], [.encryption, .identity], [.encryption, .signing], [.identity, .signing],
        .encryption, .identity, .signing,
    ]

    /// Before each key of the peer comes every other key: agreed or not, for the first time or repeated.
    @Test(
        "AB-S11: keys that were not agreed on, are repeated or come in another order end the pairing",
        arguments: both,
        [false, true]
    )
    func keys_that_were_not_agreed_on_end_the_pairing(liar: PairingRole, isLegacy: Bool) {
        var pairings = 0
        for kinds in Self.kinds {
            let codes = Self.codes(kinds, isLegacy: isLegacy)
            for place in codes.indices {
                for (code, octets) in Self.all where code != codes[place] {
                    var bench = Self.bench(kinds, isLegacy: isLegacy)
                    bench.tamper = { role, command in
                        let isPlace = role == liar && command.code == codes[place]
                        return (isPlace ? [octets] : []) + [command.framed().bytes]
                    }
                    bench.pair()
                    let victim = bench[liar.other]
                    #expect(victim.error == .refused(.unspecifiedReason), "\(code) before \(codes[place])")
                    #expect(victim.result == nil)
                    #expect(victim.sent.last == .failed(PairingFailed(.unspecifiedReason)))
                    pairings += 1
                }
            }
        }
        #expect(pairings == (isLegacy ? 20 * 4 : 12 * 4))
    }

    /// Commands after the last agreed key do not change the stored keys.
    @Test("AB-S11: distributed keys that arrive too late are not stored", arguments: both, [false, true])
    func keys_that_come_too_late_are_not_kept(liar: PairingRole, isLegacy: Bool) throws {
        for kinds in Self.kinds + [[]] {
            var bench = Self.bench(kinds, isLegacy: isLegacy)
            bench.pair()
            let kept = try #require(bench[liar.other].result)
            #expect(kept.peerKeys == bench[liar].result?.ownKeys)
            #expect(kept.peerKeys.kinds == (isLegacy ? kinds : kinds.subtracting(.encryption)))
            let sent = bench[liar.other].sent
            for octets in Self.all.values { bench.inject(octets, to: liar.other) }
            #expect(bench[liar.other].result == kept && bench[liar.other].error == nil)
            #expect(bench[liar.other].sent == sent && !bench[liar.other].machine.isUnderWay)
        }
    }

    @Test(
        "SM/PER/KDU/BI-02, AB-S11: a distributed all-zero key is rejected",
        arguments: both,
        [false, true]
    )
    func a_key_of_nothing_but_zeroes_is_rejected(liar: PairingRole, isLegacy: Bool) throws {
        let kinds: KeyKinds = [.encryption, .identity, .signing]
        for code in Self.codes(kinds, isLegacy: isLegacy) where code != .centralIdentification {
            var bench = Self.bench(kinds, isLegacy: isLegacy)
            bench.tamper = { role, command in
                let octets = command.framed().bytes
                guard role == liar, command.code == code else { return [octets] }
                return [[code.rawValue] + [UInt8](repeating: 0, count: octets.count - 1)]
            }
            bench.pair()
            let victim = bench[liar.other]
            switch code {
            // A device without private addresses has no key for them (Core Vol 3 Part H 2.4.2.1).
            case .identityInformation: #expect(try #require(victim.result).keys.identityKey == nil)
            // Any public address is plausible.
            case .identityAddressInformation: #expect(victim.result != nil)
            default:
                #expect(victim.error == .refused(.keyRejected) && victim.result == nil, "\(code)")
                #expect(victim.sent.last == .failed(PairingFailed(.keyRejected)))
            }
        }
    }

    /// A peer that has our identity resolving key from an earlier pairing distributes it as its own: our addresses
    /// would resolve to the peer.
    @Test("AB-S11: the peer's claim of our own identity resolving key is rejected", arguments: both, [false, true])
    func our_own_identity_resolving_key_is_rejected(liar: PairingRole, isLegacy: Bool) throws {
        var bench = Self.bench([.encryption, .identity], isLegacy: isLegacy)
        let own = try #require(bench[liar.other].machine.context.ownIdentity)
        bench.tamper = { role, command in
            guard role == liar, command.code == .identityInformation else { return [command.framed().bytes] }
            return [IdentityInformation(own.key).framed().bytes]
        }
        bench.pair()
        #expect(bench[liar.other].error == .refused(.keyRejected) && bench[liar.other].result == nil)
        #expect(bench[liar.other].sent.last == .failed(PairingFailed(.keyRejected)))
    }

    /// Private addresses, resolvable or not, are not identities (Core Vol 3 Part H 3.6.5).
    @Test(
        "SM/PER/KDU/BI-03, AB-S11: an invalid distributed identity is rejected",
        arguments: both,
        [0x40, 0x00, 0x80] as [UInt8]
    )
    func an_identity_that_is_none_is_rejected(liar: PairingRole, top: UInt8) {
        var bench = Self.bench([.encryption, .identity], isLegacy: false)
        bench.tamper = { role, command in
            guard role == liar, command.code == .identityAddressInformation else { return [command.framed().bytes] }
            return [[0x09, 1, 1, 2, 3, 4, 5, top | 6]]
        }
        bench.pair()
        #expect(bench[liar.other].error == .refused(.keyRejected) && bench[liar.other].result == nil)
    }

    /// Both have agreed on a key, but the link is not encrypted with it: an eavesdropper could have sent the commands.
    @Test("AB-S11: keys that arrive over an unencrypted link end the pairing", arguments: both, [false, true])
    func keys_in_the_clear_end_the_pairing(victim: PairingRole, isLegacy: Bool) {
        for (code, octets) in Self.all {
            var configuration = SecuringTests.configuration(.noInputNoOutput)
            if isLegacy { configuration.legacy = .only }
            let bench = PairedManagers(central: configuration, peripheral: configuration)
            bench.air.isSilent = true
            bench.central.manager.pair()
            bench.run()
            #expect(bench[victim].manager.machine.pairing.agreedKey != nil)
            bench[victim.other].link.inject(octets, on: 6)
            bench.run()
            #expect(bench[victim].failures == [.pairing(.refused(.unspecifiedReason))], "\(code)")
            #expect(bench[victim].manager.machine.pairing.agreedKey == nil && bench[victim].stored.isEmpty)
            // Encryption that starts now does not revive the pairing.
            bench[victim].manager.encryptionChanged(.on)
            bench.run()
            #expect(bench[victim].manager.encryption == nil)
            #expect(bench[victim].stored.isEmpty)
        }
    }
}

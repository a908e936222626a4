import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Peers that claim this very device's identity.
@Suite struct StolenIdentityPairingTests {
    static let both = SecureConnectionsTests.both

    /// A pairing in which `liar` distributes part of the other side's identity as its own.
    private static func bench(_ liar: PairingRole, isLegacy: Bool, isTold: Bool, key: Bool) -> PairingBench {
        let plain = LegacyPairingTests.configuration(.noInputNoOutput)
        var sides = (plain, plain)
        if isLegacy { sides.1.legacy = .only }
        // Whether the victim distributes its identity to this peer makes no difference: other devices may have passed
        // it on.
        if !isTold {
            if liar == .responder { sides.0.givenKeys.remove(.identity) } else { sides.1.givenKeys.remove(.identity) }
        }
        var bench = PairingBench(initiator: sides.0, responder: sides.1)
        guard let victim = bench[liar.other].machine.context.ownIdentity else { return bench }
        bench.tamper = { role, command in
            guard role == liar else { return [command.framed().bytes] }
            switch command {
            case .identityInformation where key: return [IdentityInformation(victim.key).framed().bytes]
            case .identityAddress where !key: return [IdentityAddressInformation(victim.address).framed().bytes]
            default: return [command.framed().bytes]
            }
        }
        return bench
    }

    @Test("AB-S11: the peer's claim of our own resolving key is rejected", arguments: both, [true, false])
    func our_own_resolving_key_as_the_peers_is_rejected(liar: PairingRole, isTold: Bool) {
        for isLegacy in [false, true] {
            var bench = Self.bench(liar, isLegacy: isLegacy, isTold: isTold, key: true)
            bench.pair()
            #expect(bench[liar.other].error == .refused(.keyRejected) && bench[liar.other].result == nil)
            #expect(bench[liar.other].sent.last == .failed(PairingFailed(.keyRejected)))
        }
    }

    @Test("AB-S11: the peer's claim of our own identity address is rejected", arguments: both, [true, false])
    func our_own_identity_address_as_the_peers_is_rejected(liar: PairingRole, isTold: Bool) {
        for isLegacy in [false, true] {
            var bench = Self.bench(liar, isLegacy: isLegacy, isTold: isTold, key: false)
            bench.pair()
            #expect(bench[liar.other].error == .refused(.keyRejected) && bench[liar.other].result == nil)
            #expect(bench[liar.other].sent.last == .failed(PairingFailed(.keyRejected)))
        }
    }

    /// A device without an identity of its own has its address on the link.
    @Test("AB-S11: the peer's claim of our own address on the link is rejected", arguments: both)
    func our_own_address_on_the_link_as_the_peers_is_rejected(liar: PairingRole) {
        let plain = LegacyPairingTests.configuration(.noInputNoOutput)
        var bench = PairingBench(initiator: plain, responder: plain) { role, context in
            if role != liar { context.ownIdentity = nil }
        }
        let own = liar == .initiator ? PairingBench.peripheral : PairingBench.central
        bench.tamper = { role, command in
            guard role == liar, command.code == .identityAddressInformation else { return [command.framed().bytes] }
            return [IdentityAddressInformation(own).framed().bytes]
        }
        bench.pair()
        #expect(bench[liar.other].error == .refused(.keyRejected) && bench[liar.other].result == nil)
    }

    @Test("AB-S11: an all-zero resolving key of a peer counts as none", arguments: both)
    func a_resolving_key_of_zeroes_is_none(role: PairingRole) throws {
        let plain = LegacyPairingTests.configuration(.noInputNoOutput)
        var bench = PairingBench(initiator: plain, responder: plain)
        // Also if this side has none either.
        bench[role.other].machine.context.ownIdentity?.key = .zero
        bench.tamper = { sender, command in
            guard sender == role, command.code == .identityInformation else { return [command.framed().bytes] }
            return [IdentityInformation(.zero).framed().bytes]
        }
        bench.pair()
        let result = try #require(bench[role.other].result)
        #expect(result.keys.identityKey == nil)
        #expect(result.keys.identityAddress != nil)
    }
}

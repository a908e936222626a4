import BluetoothTypes
import Cryptography
import LoopbackLinks
import Testing

@testable import SMP

/// Pairings that fail after the link is encrypted: without a key that both sides have confirmed, the link has no
/// security level.
@Suite struct BrokenPairingTests {
    typealias Securing = SecuringTests

    /// How the peer misbehaves instead of distributing its keys.
    enum Trick: CaseIterable {
        case fails
        case isSilent
        case givesWhatWasNotAgreed
        case givesAKeyOfOurs
        case resetsCounts
        case isCancelled

        func play(on bench: PairedManagers, against victim: PairingRole) {
            let link = bench[victim.other].link
            switch self {
            case .fails: link.inject([0x05, 0x08], on: 6)
            case .isSilent: bench.run(.seconds(31))
            case .givesWhatWasNotAgreed: link.inject([0x0A] + [UInt8](repeating: 1, count: 16), on: 6)
            case .givesAKeyOfOurs:
                // The victim's own identity key.
                let own = Key128(Block128(high: victim == .initiator ? 1 : 2, low: 0))
                link.inject([0x08] + own.littleEndianBytes, on: 6)
            case .resetsCounts:
                let publicKey = [0x0C] + [UInt8](repeating: 1, count: 64)
                link.inject(victim == .responder ? ForgedCommandTests.pairingRequest : publicKey, on: 6)
            case .isCancelled: bench[victim].manager.cancel()
            }
            bench.run(.seconds(1))
        }
    }

    /// Pairs until both ends are encrypted with the new key, while `silent` withholds its keys.
    private func pair(
        _ bench: PairedManagers,
        withholding silent: PairingRole,
        _ level: SecurityLevel
    ) -> PairedManagers.Outcome {
        let outcome = PairedManagers.Outcome()
        let before = bench.air.keys.count
        bench.central.manager.secure(level) { outcome.result = $0 }
        // With a bond, its key comes first.
        let wanted = before + (bench.central.shelf.keys == nil ? 1 : 2)
        while bench.air.keys.count < wanted {
            bench.run(.milliseconds(1))
            if bench[silent].takeSent().contains(where: { $0.code == .pairingDHKeyCheck }) {
                bench[silent].link.isHeld = true
            }
        }
        bench.run(.seconds(1))
        return outcome
    }

    @Test(
        "a peer that breaks the pairing instead of distributing its keys keeps no security level",
        arguments: SecuringTests.both,
        Trick.allCases
    )
    func failed_key_distribution_keeps_no_level(victim: PairingRole, trick: Trick) {
        let bench = Securing.bench()
        let outcome = pair(bench, withholding: victim.other, .authenticated)
        let side = bench[victim]
        #expect(side.manager.encryption != nil)
        #expect((victim == .responder || outcome.result == nil))
        trick.play(on: bench, against: victim)
        #expect(side.manager.encryption == nil)
        #expect(side.levels.last == .some(nil))
        #expect(side.stored.isEmpty)
        #expect(side.shelf.keys == nil)
        #expect(side.failures.count == 1)
        #expect(side.ends == 1)
        #expect(!side.isPromptOpen)
        if victim == .initiator { #expect(outcome.error == side.failures.first) }
        // Nothing happens on this link later either.
        bench[victim.other].link.isHeld = false
        bench.run(.seconds(60))
        #expect(side.stored.isEmpty)
        #expect(side.manager.encryption == nil)
        #expect(side.ends == 1)
    }

    @Test(
        "AB-S10: a better pairing that fails leaves the old bond and not its level",
        arguments: SecuringTests.both,
        Trick.allCases
    )
    func a_better_pairing_that_fails_leaves_the_old_bond(victim: PairingRole, trick: Trick) throws {
        let bench = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
        let old = bench[victim].shelf.keys
        _ = pair(bench, withholding: victim.other, .authenticated)
        let side = bench[victim]
        #expect(side.manager.encryption?.isAuthenticated == true)
        trick.play(on: bench, against: victim)
        #expect(side.manager.encryption == nil)
        #expect(side.ends == 1)
        #expect(side.shelf.keys == old)
        #expect(side.stored.isEmpty)
    }

    @Test("a pairing that fails before encryption affects nothing else", arguments: SecuringTests.both)
    func a_pairing_that_fails_early_costs_only_itself(victim: PairingRole) throws {
        let bench = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
        #expect(bench.secure(.encrypted).isSuccess)
        bench[victim].person.accepts = false
        #expect(bench.secure(.authenticated).error != nil)
        #expect(bench[victim].manager.encryption != nil && bench[victim].ends == 0)
    }
}

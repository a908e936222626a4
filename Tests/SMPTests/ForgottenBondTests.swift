import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Bonds that the user removes, or that another link has changed, while a link is using them.
@Suite struct ForgottenBondTests {
    typealias Securing = SecuringTests

    /// How the bond changes before encryption is on.
    enum Change: CaseIterable {
        case forgotten
        /// The store has lost it without notifying the link.
        case gone
        /// Another link to the same peer has paired anew.
        case replaced

        func apply(to side: SecuritySide) {
            switch self {
            case .forgotten:
                side.shelf.keys = nil
                side.manager.forget()
            case .gone: side.shelf.keys = nil
            case .replaced:
                let key = EncryptionKey(key: Key128(Block128(high: 8, low: 8)))
                side.shelf.keys?.localKey = key
                side.shelf.keys?.peerKey = key
            }
        }
    }

    @Test(
        "a peer that withholds the end of encryption until the bond is forgotten gains no security level",
        arguments: SecuringTests.both,
        Change.allCases
    )
    func withheld_encryption_gains_no_level(victim: PairingRole, change: Change) throws {
        let bench = try Securing.bonded()
        bench.air.isSilent = true
        let side = bench[victim]
        let outcome = PairedManagers.Outcome()
        side.manager.secure(.authenticated) { outcome.result = $0 }
        bench.run(.seconds(1))
        if victim == .responder { #expect(side.manager.longTermKey(random: 0, diversifier: 0) != nil) }
        change.apply(to: side)
        // Now the peer continues.
        side.manager.encryptionChanged(.on)
        side.manager.encryptionChanged(.refreshed)
        #expect(outcome.error == .forgotten)
        #expect(side.failures == [.forgotten])
        #expect(side.ends == 1)
        #expect(side.levels.allSatisfy { $0 == nil })
        #expect(side.manager.encryption == nil)
        // The link is unusable from now on, whatever keys are stored meanwhile.
        side.shelf.keys = try Securing.bond().0
        #expect(side.manager.longTermKey(random: 0, diversifier: 0) == nil)
        _ = side.takeSent()
        #expect(bench.secure(.encrypted, by: victim).error == .linkLost)
        #expect(side.takeSent().isEmpty)
    }

    @Test("a pairing in progress when the bond is forgotten leaves nothing", arguments: SecuringTests.both)
    func a_pairing_of_a_forgotten_bond_leaves_nothing(victim: PairingRole) throws {
        for moment in stride(from: 0, to: 400, by: 13) {
            let bench = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
            let outcome = PairedManagers.Outcome()
            bench.central.manager.secure(.authenticated) { outcome.result = $0 }
            bench.run(.milliseconds(Int64(moment)))
            let side = bench[victim]
            let kept = side.stored.count
            side.shelf.keys = nil
            side.manager.forget()
            bench.run(.seconds(60))
            #expect(side.ends == 1 && side.manager.encryption == nil && !side.isPromptOpen, "\(moment)")
            #expect(side.stored.count == kept && side.shelf.keys == nil, "\(moment)")
            #expect(side.levels.last == .some(nil), "\(moment)")
        }
    }
}

// MARK: - Two links to one peer

extension ForgottenBondTests {
    private static let message = SignatureTests.message

    /// Two links between the same two devices; each device stores its keys once for both.
    private static func twins() throws -> (PairedManagers, PairedManagers) {
        let first = SignatureTests.bench()
        let second = PairedManagers(central: Securing.configuration(), peripheral: Securing.configuration())
        second.central.shelf = first.central.shelf
        second.peripheral.shelf = first.peripheral.shelf
        return (first, second)
    }

    @Test("AB-A12: a signature accepted on one link is not accepted on another")
    func a_signature_is_taken_on_one_link_only() throws {
        let (first, second) = try Self.twins()
        let signature = try #require(first.central.manager.sign(Self.message))
        #expect(first.peripheral.manager.verify(Self.message, signature: signature))
        #expect(!second.peripheral.manager.verify(Self.message, signature: signature))
        // The other link's counter does not go back either.
        let next = try #require(second.central.manager.sign(Self.message))
        #expect(next.bytes.prefix(4) == [1, 0, 0, 0])
        #expect(second.peripheral.manager.verify(Self.message, signature: next))
        for old in [signature, next] {
            #expect(!first.peripheral.manager.verify(Self.message, signature: old))
        }
    }

    @Test("AB-A12: a counter that cannot be stored is neither used to sign nor accepted", arguments: SecuringTests.both)
    func a_number_that_cannot_be_kept_is_not_used(role: PairingRole) throws {
        let (first, second) = try Self.twins()
        let (signer, verifier) = (first[role], first[role.other])
        signer.storesKeys = false
        #expect(signer.manager.sign(Self.message) == nil)
        signer.storesKeys = true
        let signature = try #require(signer.manager.sign(Self.message))
        #expect(signature.bytes.prefix(4) == [0, 0, 0, 0])
        verifier.storesKeys = false
        #expect(!verifier.manager.verify(Self.message, signature: signature))
        verifier.storesKeys = true
        // The counter was not used up, so the signature counts once.
        #expect(second[role.other].manager.verify(Self.message, signature: signature))
        #expect(!verifier.manager.verify(Self.message, signature: signature))
    }

    @Test("AB-S10: a stale link uses the better key of the other link and no old one")
    func a_stale_link_has_the_better_key_of_the_other() throws {
        let weak = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
        let stale = PairedManagers(central: Securing.configuration(), peripheral: Securing.configuration())
        stale.peripheral.shelf = weak.peripheral.shelf
        let old = weak.peripheral.shelf.keys?.localKey?.key
        #expect(stale.peripheral.manager.longTermKey(random: 0, diversifier: 0) == old)
        #expect(weak.secure(.authenticated).isSuccess)
        #expect(weak.peripheral.shelf.keys?.level.isAuthenticated == true)
        let better = stale.peripheral.manager.longTermKey(random: 0, diversifier: 0)
        #expect(better != old)
        #expect(better == weak.peripheral.shelf.keys?.localKey?.key)
    }

    @Test(arguments: SecuringTests.both)
    func keys_that_nobody_keeps_live_as_long_as_the_link(role: PairingRole) throws {
        var passing = Securing.configuration()
        passing.bonds = false
        let bench = PairedManagers(central: passing, peripheral: passing)
        #expect(bench.secure(.encrypted).isSuccess && bench[role].shelf.keys == nil)
        let key = try #require(bench.central.manager.keys?.peerKey)
        bench.central.securityManager(bench.central.manager, perform: .encrypt(key))
        bench.run()
        #expect(bench.air.keys == [key.key, key.key] && bench[role].manager.encryption != nil)
        bench[role].manager.linkLost()
        #expect(bench[role].manager.keys == nil)
    }
}

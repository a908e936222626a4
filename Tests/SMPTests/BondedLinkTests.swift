import BluetoothTypes
import Cryptography
import LoopbackLinks
import Testing

@testable import SMP

/// Links between devices of which both, or only one, have a bond.
@Suite struct BondedLinkTests {
    typealias Securing = SecuringTests

    @Test("behaviour 6.11: a bonded central encrypts with the stored key without asking the user")
    func a_bonded_central_encrypts_with_the_stored_key() throws {
        let bench = try Securing.bonded()
        #expect(bench.secure(.authenticated).isSuccess)
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.peripheral.takeSent().isEmpty)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
        #expect(bench.central.manager.encryption == bench.peripheral.manager.encryption)
        #expect(bench.peripheral.manager.encryption?.isAuthenticated == true)
        #expect(bench.central.stored.isEmpty)
        #expect(bench.central.permissions == 0)
    }

    @Test(
        "SM/CEN/PIS/BV-02, SM/PER/PIS/BV-01: a Security Request leads to pairing",
        arguments: [PairingConfiguration.Legacy.refused, .whenPeerOffersNothingElse]
    )
    func a_security_request_leads_to_pairing(legacy: PairingConfiguration.Legacy) {
        var configuration = Securing.configuration()
        configuration.legacy = legacy
        let bench = PairedManagers(central: configuration, peripheral: configuration)
        #expect(bench.secure(.encrypted, by: .responder).isSuccess)
        #expect(bench.peripheral.takeSent().first?.code == .securityRequest)
        #expect(bench.central.takeSent().first?.code == .pairingRequest)
        #expect(bench.central.manager.encryption != nil)
    }

    @Test("SM/CEN/PIS/BV-03, SM/PER/PIS/BV-02: a Security Request of a bonded peer leads to encryption")
    func a_security_request_of_a_bonded_peer_leads_to_encryption() throws {
        let bench = try Securing.bonded()
        #expect(bench.secure(.authenticated, by: .responder).isSuccess)
        #expect(bench.peripheral.takeSent().map(\.code) == [.securityRequest])
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.air.keys.count == 1)
    }

    @Test(
        "a Security Request asks for no more than the bond provides, so that the central encrypts instead of pairing again",
        arguments: [IOCapability.noInputNoOutput, .displayYesNo],
        [PairingConfiguration.Legacy.whenPeerOffersNothingElse, .only]
    )
    func a_security_request_asks_for_what_the_bond_has(
        capability: IOCapability,
        legacy: PairingConfiguration.Legacy
    ) throws {
        var (central, peripheral) = (Securing.configuration(), Securing.configuration(.noInputNoOutput))
        central.legacy = legacy
        (central.wantsProtection, peripheral.wantsProtection) = (true, true)
        let keys = try Securing.bond((central, peripheral))
        #expect(keys.1.level.isAuthenticated == false)
        // The device has gained a display, so pairing would give a better key. That alone is no reason to pair.
        peripheral.ioCapability = capability
        central.legacy = .whenPeerOffersNothingElse
        let bench = PairedManagers(central: central, peripheral: peripheral, keys: (keys.0, keys.1))
        #expect(bench.secure(.encrypted, by: .responder).isSuccess)
        let expected: AuthenticationRequirements = legacy == .only ? [.bonding] : [.bonding, .secureConnections]
        #expect(bench.peripheral.takeSent() == [.securityRequest(SecurityRequest(expected))])
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.central.stored.isEmpty)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.manager.encryption == keys.1.level)
    }

    @Test(
        "a Security Request asks for protection where an attribute needs more than the bond provides, or without a bond"
    )
    func a_security_request_asks_for_what_the_attribute_needs() throws {
        var configuration = Securing.configuration()
        configuration.wantsProtection = true
        let keys = try Securing.bond((Securing.configuration(.noInputNoOutput), configuration))
        let bench = PairedManagers(central: configuration, peripheral: configuration, keys: (keys.0, keys.1))
        #expect(bench.secure(.authenticated, by: .responder).isSuccess)
        let all: AuthenticationRequirements = [.bonding, .protection, .secureConnections]
        #expect(bench.peripheral.takeSent().first == .securityRequest(SecurityRequest(all)))
        #expect(bench.peripheral.manager.encryption?.isAuthenticated == true)
        let strangers = PairedManagers(central: configuration, peripheral: configuration)
        #expect(strangers.secure(.encrypted, by: .responder).isSuccess)
        #expect(strangers.peripheral.takeSent().first == .securityRequest(SecurityRequest(all)))
    }

    @Test(
        "a device without input and output does not request MITM protection from a stranger, since it cannot provide it"
    )
    func a_security_request_asks_for_what_can_be_had() {
        var (central, peripheral) = (Securing.configuration(), Securing.configuration(.noInputNoOutput))
        (central.wantsProtection, peripheral.wantsProtection) = (true, true)
        let bench = PairedManagers(central: central, peripheral: peripheral)
        #expect(bench.secure(.encrypted, by: .responder).isSuccess)
        #expect(bench.peripheral.takeSent().first == .securityRequest(SecurityRequest([.bonding, .secureConnections])))
    }

    @Test(
        "AB-S09: a Security Request of an impostor leads to encryption with the stored key and nothing else",
        arguments: [0x00, 0x01, 0x05, 0x09, 0x0D, 0xFF] as [UInt8]
    )
    func a_security_request_of_an_impostor_leads_to_encryption(bits: UInt8) throws {
        let keys = try Securing.bond()
        let bench = PairedManagers(central: Securing.configuration(), keys: (keys.0, nil))
        bench.peripheral.link.inject([0x0B, bits], on: 6)
        bench.run()
        #expect(bench.central.failures == [.peerLostKey])
        #expect(bench.central.manager.keys == keys.0)
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.central.stored.isEmpty)
        // Repeated requests do not change that.
        for _ in 0..<50 { bench.peripheral.link.inject([0x0B, bits], on: 6) }
        bench.run()
        #expect(bench.central.failures == [.peerLostKey])
        #expect(bench.central.manager.keys == keys.0)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.central.takeSent().isEmpty)
    }

    @Test(
        "behaviours 6.12, 6.20, AB-S09: a peer that lost its keys does not pair silently",
        arguments: [SecurityLevel.encrypted, .authenticated, .secureConnections]
    )
    func a_peer_that_lost_its_keys_is_not_paired_silently(level: SecurityLevel) throws {
        let keys = try Securing.bond()
        let bench = PairedManagers(
            central: Securing.configuration(),
            peripheral: Securing.configuration(),
            keys: (keys.0, nil)
        )
        #expect(bench.secure(level).error == .peerLostKey)
        #expect(bench.central.manager.keys == keys.0)
        #expect(bench.central.stored.isEmpty)
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.central.prompts.isEmpty)
        // Until the bond is forgotten.
        bench.central.shelf.keys = nil
        #expect(bench.secure(level).isSuccess)
    }

    @Test(
        "behaviour 6.13: encryption that times out is distinguished from encryption that fails",
        arguments: [EncryptionFailure.timedOut, .other]
    )
    func encryption_that_fails_is_told_apart(failure: EncryptionFailure) throws {
        let bench = try Securing.bonded()
        bench.air.failure = failure
        #expect(bench.secure(.encrypted).error == (failure == .timedOut ? .encryptionTimedOut : .encryptionFailed))
        #expect(bench.central.manager.encryption == nil)
        #expect(bench.central.takeSent().isEmpty)
    }

    @Test(
        "a stored key that is too weak is proved first and then replaced by a better one",
        arguments: SecuringTests.both
    )
    func a_weak_stored_key_is_shown_and_then_replaced(role: PairingRole) throws {
        let bench = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
        let old = bench.central.manager.keys?.peerKey
        #expect(bench.central.manager.keys?.level.isAuthenticated == false)
        #expect(bench.secure(.authenticated, by: role).isSuccess)
        #expect(bench.air.keys.count == 2)
        #expect(bench.air.keys.first == old?.key)
        // The link was already encrypted, and now uses the new key: a peer that had not proved the old key would have
        // required the user's consent.
        #expect(bench.central.levels.map { $0?.isAuthenticated } == [false, true])
        #expect(bench.central.manager.keys?.level.isAuthenticated == true)
        #expect(bench.peripheral.prompts.map(PairingTests.kind) == ["compare"])
    }

    @Test("SM/PER/KDU/BV-07: a live link is encrypted again with the key of the pairing")
    func a_live_link_is_encrypted_again() throws {
        for legacy in [PairingConfiguration.Legacy.only, .whenPeerOffersNothingElse] {
            var configuration = Securing.configuration(.noInputNoOutput)
            configuration.legacy = legacy
            let bench = PairedManagers(central: configuration, peripheral: configuration)
            #expect(bench.secure(.encrypted).isSuccess)
            let key = try #require(bench.central.manager.keys?.peerKey)
            bench.central.securityManager(bench.central.manager, perform: .encrypt(key))
            bench.run()
            #expect(bench.air.keys.last == key.key)
            #expect(bench.air.keys.count == 2)
            #expect(bench.peripheral.manager.encryption != nil)
            #expect(bench.central.failures.isEmpty)
        }
    }

    @Test("AB-S09: a central that pairs anew without proving its key needs the user's consent")
    func pairing_anew_without_the_key_asks_a_person_first() throws {
        for accepts in [false, true] {
            let keys = try Securing.bond()
            let bench = PairedManagers(
                central: Securing.configuration(),
                peripheral: Securing.configuration(),
                keys: (nil, keys.1)
            )
            bench.peripheral.person.accepts = accepts
            let outcome = bench.secure(.encrypted)
            #expect(bench.peripheral.prompts.first == .confirmReplacement)
            #expect(outcome.isSuccess == accepts)
            #expect(bench.peripheral.prompts.count == (accepts ? 2 : 1))
            #expect((bench.peripheral.manager.keys == keys.1) == !accepts)
        }
    }

    @Test("AB-S10: a pairing that is weaker than the bond is refused", arguments: SecuringTests.both)
    func a_pairing_that_is_weaker_than_the_bond_is_refused(bonded: PairingRole) throws {
        let keys = try Securing.bond()
        for (capability, legacy) in [
            (IOCapability.noInputNoOutput, PairingConfiguration.Legacy.whenPeerOffersNothingElse),
            (.keyboardDisplay, .only),
        ] {
            var weak = Securing.configuration(capability)
            weak.legacy = legacy
            let strong = Securing.configuration()
            let bench = PairedManagers(
                central: bonded == .initiator ? strong : weak,
                peripheral: bonded == .responder ? strong : weak,
                keys: (bonded == .initiator ? keys.0 : nil, bonded == .responder ? keys.1 : nil)
            )
            let outcome = PairedManagers.Outcome()
            bench.central.manager.pair { outcome.result = $0 }
            bench.run()
            #expect(outcome.error != nil && bench[bonded].stored.isEmpty && bench.air.keys.isEmpty)
            #expect(bench[bonded].failures == [.pairing(.refused(.authenticationRequirements))])
            #expect(bench[bonded].manager.keys == (bonded == .initiator ? keys.0 : keys.1))
        }
    }

    @Test("AB-S10: a shorter key does not replace a longer one")
    func a_shorter_key_does_not_take_the_place_of_a_longer_one() throws {
        var short = Securing.configuration()
        short.maximumKeySize = 10
        short.minimumKeySize = 7
        var long = Securing.configuration()
        long.minimumKeySize = 7
        let keys = try Securing.bond((long, long))
        let bench = PairedManagers(central: short, peripheral: long, keys: (nil, keys.1))
        #expect(bench.secure(.encrypted).error == .pairing(.refusedByPeer(.authenticationRequirements)))
        #expect(bench.peripheral.manager.keys == keys.1)
    }
}

// MARK: - Keys for the controller

extension BondedLinkTests {
    @Test("AB-L06: no key is given before one is agreed on")
    func no_key_is_given_where_none_is_agreed_on() {
        let bench = Securing.bench()
        let manager = bench.peripheral.manager
        // The central pairs, and at each step an attacker starts encryption with an all-zero key.
        #expect(manager.longTermKey(random: 0, diversifier: 0) == nil)
        bench.central.manager.pair()
        var given: [Bool] = []
        bench.peripheral.delay = .milliseconds(50)
        for _ in 0..<60 {
            bench.run(.milliseconds(2))
            given.append(manager.longTermKey(random: 0, diversifier: 0) != nil)
            #expect(manager.longTermKey(random: 1, diversifier: 0) == nil)
            #expect(manager.longTermKey(random: 0, diversifier: 1) == nil)
        }
        // The key is given only once both have proved that they share it, and it is that key.
        #expect(given.first == false)
        #expect(given.drop { !$0 }.allSatisfy { $0 })
        bench.run()
        let key = manager.longTermKey(random: 0, diversifier: 0)
        #expect(key == bench.central.manager.keys?.peerKey?.key)
        #expect(key != .zero)
        #expect(key != nil)
    }

    @Test("AB-L06: encryption without a given key does not count")
    func encryption_that_nobody_gave_a_key_for_does_not_count() {
        for role in SecuringTests.both {
            let bench = Securing.bench()
            let outcome = PairedManagers.Outcome()
            bench[role].manager.encryptionChanged(.on)
            #expect(bench[role].manager.encryption == nil)
            bench.central.delay = nil
            bench.central.manager.secure(.encrypted) { outcome.result = $0 }
            bench.run()
            // In the middle of pairing, with an all-zero key in a deceived controller.
            bench[role].manager.encryptionChanged(.on)
            bench[role].manager.encryptionChanged(.refreshed)
            #expect(bench[role].manager.encryption == nil && outcome.result == nil)
            #expect(bench[role].levels.isEmpty && bench[role].stored.isEmpty)
        }
    }

    @Test(
        "AB-L06: encryption before the controller has asked for the agreed key does not count",
        arguments: [false, true]
    )
    func encryption_before_the_key_was_asked_for_does_not_count(isLegacy: Bool) {
        var configuration = Securing.configuration(.noInputNoOutput)
        if isLegacy { configuration.legacy = .only }
        let bench = PairedManagers(central: configuration, peripheral: configuration)
        bench.air.isSilent = true
        bench.central.manager.pair()
        bench.run()
        // Both have a key, and so has the central's controller; the peripheral's never requested it.
        let manager = bench.peripheral.manager
        #expect(manager.machine.pairing.agreedKey != nil)
        for report in [EncryptionChangeReport.on, .refreshed] {
            manager.encryptionChanged(report)
            bench.run(.seconds(1))
            #expect(manager.encryption == nil)
            #expect(bench.peripheral.stored.isEmpty)
        }
        #expect(!bench.peripheral.takeSent().contains { $0.code == .identityInformation })
        #expect(manager.longTermKey(random: 0, diversifier: 0) != nil)
        manager.encryptionChanged(.on)
        #expect(manager.encryption != nil)
    }

    @Test("a key of legacy pairing is given only for its own EDIV and Rand")
    func a_legacy_key_is_given_for_its_own_numbers() throws {
        var configuration = Securing.configuration()
        configuration.legacy = .only
        let keys = try Securing.bond((configuration, configuration))
        let bench = PairedManagers(central: configuration, peripheral: configuration, keys: (keys.0, keys.1))
        let own = try #require(keys.1.localKey)
        #expect(own == keys.0.peerKey)
        let manager = bench.peripheral.manager
        #expect(manager.longTermKey(random: own.random, diversifier: own.diversifier) == own.key)
        #expect(manager.longTermKey(random: own.random &+ 1, diversifier: own.diversifier) == nil)
        #expect(manager.longTermKey(random: own.random, diversifier: own.diversifier &+ 1) == nil)
        #expect(manager.longTermKey(random: 0, diversifier: 0) == nil)
        // The central never gives a key, whatever the request.
        #expect(bench.central.manager.longTermKey(random: own.random, diversifier: own.diversifier) == nil)
        #expect(bench.secure(.encrypted).isSuccess)
    }

    @Test("AB-S11: losing encryption ends the key distribution", arguments: SecuringTests.both)
    func a_link_in_the_clear_ends_the_distribution_of_keys(role: PairingRole) {
        let bench = Securing.bench(.noInputNoOutput, .noInputNoOutput)
        bench.central.manager.pair()
        // The other side's keys never arrive.
        while bench.air.keys.isEmpty {
            bench.run(.milliseconds(1))
            let isLast = bench[role.other].takeSent().contains { $0.code == .pairingDHKeyCheck }
            if isLast { bench[role.other].link.isHeld = true }
        }
        bench.run(.seconds(1))
        #expect(bench[role].manager.encryption != nil)
        bench[role].manager.encryptionChanged(.off)
        bench.run()
        #expect(bench[role].stored.isEmpty && bench[role].manager.encryption == nil)
        #expect(bench[role].failures == [.pairing(.refused(.unspecifiedReason))])
    }

    /// A command begun in the clear by any device and ended on the encrypted link does not count as the encrypted
    /// peer's.
    @Test("AB-L08, AB-S11: a command that began in the clear does not count as the encrypted peer's", arguments: 1...10)
    func aCommandThatBeganInTheClearIsNotTheEncryptedPeers(cut: Int) throws {
        let bench = try Securing.bonded()
        bench.run(.zero)
        let request: [UInt8] = [7, 0, 6, 0, 0x01, 0x04, 0, 0x0D, 16, 0, 0]
        let link = bench.peripheral.link
        link.onReceive?(PacketBuffer(Array(request[..<cut])), true)
        #expect(bench.secure(.authenticated).isSuccess)
        link.onReceive?(PacketBuffer(Array(request[cut...])), false)
        bench.run()
        #expect(bench.peripheral.takeSent().isEmpty)
        #expect(bench.peripheral.permissions == 0)
        // A complete command is processed.
        link.onReceive?(PacketBuffer(request), true)
        bench.run()
        #expect(!bench.peripheral.takeSent().isEmpty)
    }
}

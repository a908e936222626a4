import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Securing a link between two security managers.
@Suite struct SecuringTests {
    static let both = [PairingRole.initiator, .responder]

    static func configuration(_ capability: IOCapability = .displayYesNo) -> PairingConfiguration {
        LegacyPairingTests.configuration(capability)
    }

    static func bench(_ central: IOCapability = .displayYesNo, _ peripheral: IOCapability = .displayYesNo)
        -> PairedManagers
    {
        PairedManagers(central: configuration(central), peripheral: configuration(peripheral))
    }

    /// Pairs two devices, and returns the keys of their bond.
    static func bond(_ configurations: (PairingConfiguration, PairingConfiguration)) throws -> (PeerKeys, PeerKeys) {
        let bench = PairedManagers(central: configurations.0, peripheral: configurations.1, seed: 99)
        #expect(bench.secure(.encrypted).isSuccess)
        return (try #require(bench.central.manager.keys), try #require(bench.peripheral.manager.keys))
    }

    static func bond(_ capability: IOCapability = .displayYesNo) throws -> (PeerKeys, PeerKeys) {
        try bond((configuration(capability), configuration(capability)))
    }

    /// A new link between two bonded devices.
    static func bonded(
        _ capability: IOCapability = .displayYesNo,
        now: IOCapability? = nil
    ) throws -> PairedManagers {
        let keys = try bond(capability)
        let configuration = configuration(now ?? capability)
        return PairedManagers(central: configuration, peripheral: configuration, keys: (keys.0, keys.1))
    }

    @Test(
        "a link is paired when either side wants it secured, and the keys are stored before the link counts as secure",
        arguments: both
    )
    func a_link_is_paired_when_either_side_wants_it_secured(role: PairingRole) throws {
        let bench = Self.bench()
        let outcome = bench.secure(.authenticated, by: role)
        #expect(outcome.isSuccess)
        for side in [bench.central, bench.peripheral] {
            #expect(side.manager.encryption?.isAuthenticated == true)
            #expect(side.stored.count == 1)
            #expect(side.stored.first?.isBonding == true)
            #expect(side.manager.keys == side.stored.first?.keys)
            #expect(side.failures.isEmpty)
            #expect(!side.isPromptOpen)
        }
        let (a, b) = (try #require(bench.central.manager.keys), try #require(bench.peripheral.manager.keys))
        #expect(a.peerKey == b.localKey)
        #expect(a.localKey == b.peerKey)
        #expect(a.peerKey == a.localKey)
        #expect(a.identityAddress == PairingBench.peripheral)
        #expect(b.identityAddress == PairingBench.central)
        #expect(bench.air.keys == [try #require(a.peerKey).key])
    }

    @Test(arguments: both)
    func keys_that_cannot_be_kept_do_not_count(full: PairingRole) {
        let bench = Self.bench()
        bench[full].storesKeys = false
        let outcome = PairedManagers.Outcome()
        bench[full].manager.pair { outcome.result = $0 }
        bench.run()
        #expect(outcome.error == .keysRefused)
        #expect(bench[full].manager.keys == nil && bench[full].manager.encryption == nil)
        #expect(bench[full].failures == [.keysRefused])
        #expect(bench[full].takeSent().last == .failed(PairingFailed(.keyRejected)))
    }

    @Test func a_link_that_is_secure_enough_needs_nothing() {
        let bench = Self.bench()
        #expect(bench.secure(.authenticated).isSuccess)
        _ = bench.central.takeSent()
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.secure(.secureConnections).isSuccess)
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.air.keys.count == 1)
    }

    @Test("many callers wait for one pairing, and callers beyond the limit are rejected")
    func many_callers_wait_for_one_pairing() {
        let bench = Self.bench()
        var results: [Result<Void, SecurityError>] = []
        for number in 0...SecurityMachine.maximumWaiters {
            bench.central.manager.secure(number.isMultiple(of: 2) ? .encrypted : .authenticated) { results.append($0) }
        }
        #expect(results.count == 1)
        if case .failure(let error)? = results.first { #expect(error == .notAllowed) }
        bench.run()
        #expect(results.count == SecurityMachine.maximumWaiters + 1)
        #expect(results.dropFirst().allSatisfy { if case .success = $0 { true } else { false } })
        #expect(bench.central.takeSent().count { $0.code == .pairingRequest } == 1)
    }

    @Test("a pairing and a Security Request that cross lead to one pairing")
    func requests_that_cross_lead_to_one_pairing() {
        let bench = Self.bench()
        let outcomes = (PairedManagers.Outcome(), PairedManagers.Outcome())
        bench.central.manager.pair { outcomes.0.result = $0 }
        bench.peripheral.manager.secure(.authenticated) { outcomes.1.result = $0 }
        bench.run()
        #expect(outcomes.0.isSuccess)
        #expect(outcomes.1.isSuccess)
        #expect(bench.central.takeSent().count { $0.code == .pairingRequest } == 1)
        #expect(bench.central.stored.count == 1)
        #expect(bench.peripheral.stored.count == 1)
    }

    @Test(arguments: both)
    func without_a_delegate_nothing_is_paired(without: PairingRole) {
        let bench = Self.bench()
        bench[without].manager.delegate = nil
        let outcome = bench.secure(.encrypted, by: without.other)
        #expect(outcome.error != nil)
        #expect(bench.air.keys.isEmpty)
        #expect(bench.central.stored.isEmpty)
        #expect(bench.peripheral.stored.isEmpty)
    }

    @Test("behaviour 6.6: an absent user ends the pairing with the time-out", arguments: both)
    func a_person_who_is_not_there_ends_it_with_the_timeout(absent: PairingRole) {
        let bench = Self.bench()
        bench[absent].delay = nil
        let outcome = bench.secure(.encrypted)
        #expect(outcome.result == nil)
        bench.run(.seconds(24))
        #expect(outcome.result == nil)
        bench.run(.seconds(40))
        #expect(outcome.error == .pairing(.timedOut))
        #expect(bench.central.failures == [.pairing(.timedOut)])
        // No further pairing on this link.
        _ = (bench.central.takeSent(), bench.peripheral.takeSent())
        #expect(bench.secure(.encrypted).error == .pairing(.timedOut))
        #expect(bench.secure(.encrypted, by: .responder).error == .pairing(.timedOut))
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.peripheral.takeSent().isEmpty)
    }

    @Test(arguments: both)
    func lost_links_fail_waiting_requests(role: PairingRole) {
        for moment in [Duration.zero, .milliseconds(1), .milliseconds(90), .milliseconds(110)] {
            let bench = Self.bench()
            let outcome = PairedManagers.Outcome()
            bench[role].manager.secure(.encrypted) { outcome.result = $0 }
            bench.run(moment)
            bench[role].manager.linkLost()
            #expect(outcome.error == .linkLost && !bench[role].isPromptOpen)
            bench[role].manager.secure(.encrypted) { outcome.result = $0 }
            #expect(outcome.error == .linkLost)
            bench.run(.seconds(60))
            #expect(bench[role].failures == [.linkLost] && bench[role].stored.isEmpty)
        }
    }

    @Test("a refusal by the user is distinguished from a refusal by the peer")
    func a_person_who_refuses_is_not_the_peer() {
        let bench = Self.bench()
        bench.central.person.accepts = false
        #expect(bench.secure(.encrypted).error == .refusedByPerson)
        #expect(bench.peripheral.failures == [.pairing(.refusedByPeer(.numericComparisonFailed))])
    }

    @Test(arguments: both)
    func an_answer_to_a_prompt_that_is_over_changes_nothing(role: PairingRole) throws {
        let bench = Self.bench()
        bench[role].delay = nil
        _ = bench.secure(.encrypted)
        let late = try #require(bench[role].answer)
        bench[role].manager.cancel()
        bench.run()
        #expect(bench[role].failures == [.cancelled] && !bench[role].isPromptOpen)
        _ = bench[role].takeSent()
        late(.accept)
        bench.run()
        #expect(bench[role].takeSent().isEmpty && bench[role].failures == [.cancelled])
        // A new pairing is possible immediately, and the old answer does not apply to the new prompt.
        let outcome = bench.secure(.encrypted)
        late(.accept)
        bench.run()
        #expect(outcome.result == nil)
    }

    @Test func a_caller_may_ask_for_more_in_its_completion() {
        let bench = Self.bench(.noInputNoOutput, .displayYesNo)
        var results: [String] = []
        bench.central.manager.secure(.encrypted) { _ in
            results.append("first")
            bench.central.manager.secure(.authenticated) {
                if case .failure(let error) = $0 { results.append("\(error)") }
            }
            results.append("last")
        }
        bench.run()
        #expect(results.prefix(2) == ["first", "last"])
        #expect(results.count == 3)
        #expect(bench.central.failures.isEmpty)
        // The link is unchanged.
        #expect(bench.central.manager.encryption != nil)
    }
}

import BluetoothTypes
import Cryptography
import EventLoops
import LoopbackLinks
import Testing

@testable import SMP

/// The effects of configurations, out-of-band data and keypresses on a link.
@Suite struct ModesTests {
    typealias Securing = SecuringTests

    @Test("behaviour 6.7: the first Pairing Request equals Apple's")
    func the_first_request_is_that_of_apple() {
        let bench = PairedManagers()
        bench.central.manager.pair()
        // Keyboard and display, no out-of-band data, bonding with MITM protection and LE Secure Connections, 16 octets,
        // long-term and identity keys in both directions.
        #expect(bench.central.link.takeSent(on: 6) == [[0x01, 0x04, 0x00, 0x0D, 0x10, 0x03, 0x03]])
    }

    /// Behaviour 6.8: the prompts of Apple's device, which has a keyboard and a display, for each kind of peer.
    @Test(
        "behaviour 6.8: the user's prompt follows from the capabilities of the peer",
        arguments: [
            (IOCapability.noInputNoOutput, "confirm"), (.displayOnly, "enter"), (.keyboardOnly, "show"),
            (.displayYesNo, "compare"), (.keyboardDisplay, "compare"),
        ]
    )
    func prompts_follow_the_peers_capabilities(peer: IOCapability, prompt: String) {
        let bench = PairedManagers(peripheral: Securing.configuration(peer))
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.central.prompts.map(PairingTests.kind) == [prompt])
    }

    @Test("AB-S07: Secure Connections Only accepts no lower level", arguments: Securing.both)
    func secure_connections_only_takes_nothing_less(strict: PairingRole) {
        var only = Securing.configuration()
        only.legacy = .refused
        only.requiresProtection = true
        var legacy = Securing.configuration()
        legacy.legacy = .only
        for weak in [legacy, Securing.configuration(.noInputNoOutput)] {
            let bench = PairedManagers(
                central: strict == .initiator ? only : weak,
                peripheral: strict == .responder ? only : weak
            )
            #expect(bench.secure(.encrypted).error != nil)
            #expect(bench[strict].failures == [.pairing(.refused(.authenticationRequirements))])
            #expect(bench.air.keys.isEmpty && bench[strict].prompts.isEmpty)
        }
    }

    @Test("AB-S03: debug keys are never stored", arguments: Securing.both)
    func debug_keys_are_never_kept(role: PairingRole) {
        var debug = Securing.configuration()
        debug.isDebugMode = true
        let bench = PairedManagers(central: debug, peripheral: debug)
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench[role].stored.map(\.isBonding) == [false] && bench[role].shelf.keys == nil)
        // A device that is not debugging does not accept the debug key either.
        let mixed = PairedManagers(
            central: role == .initiator ? debug : Securing.configuration(),
            peripheral: role == .responder ? debug : Securing.configuration()
        )
        #expect(mixed.secure(.encrypted).error != nil)
        #expect(mixed.air.keys.isEmpty)
        #expect(mixed[role.other].failures == [.pairing(.refused(.invalidParameters))])
    }

    @Test(
        "AB-S15: legacy keys are marked and do not suffice where Secure Connections is required",
        arguments: Securing.both
    )
    func legacy_keys_do_not_do_for_secure_connections(role: PairingRole) {
        var legacy = Securing.configuration(.keyboardDisplay)
        legacy.legacy = .only
        let bench = PairedManagers(
            central: role == .initiator ? legacy : Securing.configuration(.keyboardDisplay),
            peripheral: role == .responder ? legacy : Securing.configuration(.keyboardDisplay)
        )
        #expect(bench.secure(.authenticated).isSuccess)
        #expect(bench.central.manager.encryption?.isSecureConnections == false)
        #expect(!SecurityLevel.secureConnections.isMet(by: bench.central.manager.encryption))
        // A central that lacks it itself does not even begin.
        let error: SecurityError =
            role == .initiator
            ? .cannotPair(.noSecureConnections) : .pairing(.refused(.authenticationRequirements))
        #expect(bench.secure(.secureConnections).error == error)
    }

    @Test(
        "AB-S06: Just Works does not suffice where protection is required",
        arguments: Securing.both,
        [PairingConfiguration.Legacy.only, .refused]
    )
    func just_works_does_not_do_where_protection_is_needed(poor: PairingRole, legacy: PairingConfiguration.Legacy) {
        var (rich, configuration) = (Securing.configuration(), Securing.configuration(.noInputNoOutput))
        rich.legacy = legacy
        configuration.legacy = legacy
        let bench = PairedManagers(
            central: poor == .initiator ? configuration : rich,
            peripheral: poor == .responder ? configuration : rich
        )
        let ownError: SecurityError = .cannotPair(.noInputNoOutput)
        let peersError: SecurityError = .pairing(.refused(.authenticationRequirements))
        #expect(bench.secure(.authenticated).error == (poor == .initiator ? ownError : peersError))
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.central.stored.first?.keys.level.isAuthenticated == false)
        #expect(!SecurityLevel.authenticated.isMet(by: bench.peripheral.manager.encryption))
        // As peripheral, the caller learns that the central does no better.
        let outcome = bench.secure(.authenticated, by: .responder)
        bench.run(.seconds(31))
        #expect(outcome.error == (poor == .responder ? ownError : .pairing(.timedOut)))
        #expect(bench.peripheral.manager.encryption != nil)
    }

    @Test(
        "out-of-band data need no user with Secure Connections",
        arguments: [[PairingRole.initiator], [.responder], [.initiator, .responder]]
    )
    func oob_data_need_no_person_with_secure_connections(informed: [PairingRole]) throws {
        let bench = Securing.bench(.noInputNoOutput, .noInputNoOutput)
        let random = RandomSource(seed: 3)
        for role in informed {
            let own = try #require(OwnOutOfBandData(random: random))
            bench[role.other].manager.outOfBand.own = own
            bench[role].manager.outOfBand.peer = own.shared
        }
        #expect(bench.secure(.secureConnections).isSuccess)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
        // The out-of-band data are used up.
        #expect(bench.central.manager.outOfBand.own == nil)
        #expect(bench.peripheral.manager.outOfBand.own == nil)
        #expect(bench.central.manager.outOfBand.peer == nil)
        #expect(bench.peripheral.manager.outOfBand.peer == nil)
    }

    @Test("out-of-band data need no user with legacy pairing")
    func oob_data_need_no_person_with_legacy_pairing() throws {
        var legacy = Securing.configuration(.noInputNoOutput)
        legacy.legacy = .only
        let bench = PairedManagers(central: legacy, peripheral: legacy)
        let key = Key128(Block128(high: 1, low: 2))
        bench.central.manager.outOfBand.peer = .legacy(key)
        bench.peripheral.manager.outOfBand.peer = .legacy(key)
        #expect(bench.secure(.authenticated).isSuccess)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
    }

    @Test("keypresses are sent to the other side if both sides support it", arguments: Securing.both)
    func keypresses_are_told_where_both_want_it(types: PairingRole) throws {
        for (a, b) in [(true, true), (true, false), (false, true)] {
            var keyboard = Securing.configuration(.keyboardOnly)
            keyboard.notifiesKeypresses = a
            var display = Securing.configuration(.displayOnly)
            display.notifiesKeypresses = b
            let bench = PairedManagers(
                central: types == .initiator ? keyboard : display,
                peripheral: types == .responder ? keyboard : display
            )
            bench[types].delay = nil
            let outcome = bench.secure(.encrypted)
            let answer = try #require(bench[types].answer)
            let kinds: [KeypressNotification.Kind] = [.started, .digitEntered, .digitErased, .cleared, .completed]
            // Slowly: each keypress restarts the timeout where the peer receives it.
            for kind in kinds {
                answer(.typing(kind))
                bench.run(.seconds(4))
            }
            #expect(bench[types.other].pressed == (a && b ? kinds : []))
            // The displaying side has no keypresses to report.
            bench[types.other].answer?(.typing(.started))
            bench.run(.milliseconds(10))
            #expect(bench[types].pressed.isEmpty)
            guard case .showPasskey(let passkey)? = bench[types.other].prompts.first else {
                Issue.record("no passkey is displayed")
                return
            }
            answer(.passkey(passkey))
            bench.run()
            #expect(outcome.isSuccess)
        }
    }

    @Test("keypresses extend the time-out for a slow user, but not for ever")
    func keypresses_put_the_timeout_off_for_a_while() throws {
        var (keyboard, display) = (Securing.configuration(.keyboardOnly), Securing.configuration(.displayOnly))
        (keyboard.notifiesKeypresses, display.notifiesKeypresses) = (true, true)
        let bench = PairedManagers(central: display, peripheral: keyboard)
        bench.peripheral.delay = nil
        let outcome = bench.secure(.encrypted)
        for _ in 0..<10 {
            bench.peripheral.link.inject([0x0E, 1], on: 6)
            bench.run(.seconds(20))
        }
        #expect(outcome.result == nil)
        #expect(bench.central.failures.isEmpty)
        for _ in 0..<PairingMachine.maximumKeypresses {
            bench.peripheral.link.inject([0x0E, 1], on: 6)
            bench.run(.seconds(20))
        }
        #expect(outcome.error == .pairing(.timedOut))
    }

    @Test("AB-S12: a peer that may not pair now is refused before anything begins", arguments: Securing.both)
    func peers_in_back_off_are_refused(role: PairingRole) {
        let bench = Securing.bench()
        bench[role].isPermitted = false
        let outcome = bench.secure(.encrypted)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
        #expect(outcome.error == (role == .initiator ? .notAllowed : .pairing(.refusedByPeer(.repeatedAttempts))))
        #expect(bench[role].failures == [.notAllowed])
        #expect(bench.peripheral.takeSent() == (role == .initiator ? [] : [.failed(PairingFailed(.repeatedAttempts))]))
        #expect(bench.central.takeSent().isEmpty == (role == .initiator))
        // Later it is permitted.
        bench[role].isPermitted = true
        #expect(bench.secure(.encrypted).isSuccess)
    }

    @Test("a device that is not pairable still encrypts with the bond it has")
    func a_device_that_is_not_pairable_uses_its_bond() throws {
        let keys = try Securing.bond()
        for role in Securing.both {
            var closed = Securing.configuration()
            closed.isPairable = false
            let bench = PairedManagers(
                central: role == .initiator ? closed : Securing.configuration(),
                peripheral: role == .responder ? closed : Securing.configuration(),
                keys: (keys.0, keys.1)
            )
            #expect(bench.secure(.authenticated).isSuccess)
            let outcome = PairedManagers.Outcome()
            bench.central.manager.pair { outcome.result = $0 }
            bench.run()
            #expect(outcome.error != nil)
            #expect(bench.air.keys.count == 1)
            // The device's own request does not even start.
            #expect(bench[role].failures == (role == .initiator ? [] : [.pairing(.refused(.pairingNotSupported))]))
        }
    }

    @Test func no_bond_is_kept_where_one_side_wants_none() {
        for role in Securing.both {
            var passing = Securing.configuration()
            passing.bonds = false
            let bench = PairedManagers(
                central: role == .initiator ? passing : Securing.configuration(),
                peripheral: role == .responder ? passing : Securing.configuration()
            )
            #expect(bench.secure(.encrypted).isSuccess)
            #expect(bench.central.stored.map(\.isBonding) == [false])
            #expect(bench.central.shelf.keys == nil)
            #expect(bench.peripheral.stored.map(\.isBonding) == [false])
            #expect(bench.peripheral.shelf.keys == nil)
            #expect(bench.central.manager.encryption != nil)
            #expect(bench.peripheral.manager.encryption != nil)
        }
    }
}

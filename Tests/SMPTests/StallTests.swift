import BluetoothTypes
import Cryptography
import LoopbackLinks
import Testing

@testable import SMP

/// When the party that a pairing waits for goes silent, the pairing ends by itself, and for good (Core Vol 3 Part H
/// 3.4).
@Suite struct StallTests {
    typealias Securing = SecuringTests

    /// The state of a side that may be waiting.
    private struct Witness {
        let side: SecuritySide
        let waited: Bool
        /// Whether the link was encrypted with the new key, so that it ends with the pairing.
        let wasEncrypted: Bool

        init(_ side: SecuritySide) {
            self.side = side
            waited = side.manager.machine.state != .idle
            wasEncrypted = side.manager.encryption != nil
        }
    }

    /// Runs the pairing until it stalls, and checks that it ends 30 seconds later at every waiting side.
    private static func expectEnd(of bench: PairedManagers, _ what: String) -> [SecuritySide] {
        // Everything happens within three seconds.
        bench.run(.seconds(3))
        let witnesses = [Witness(bench.central), Witness(bench.peripheral)]
        bench.run(.milliseconds(26_990))
        for witness in witnesses { #expect(witness.side.failures.isEmpty, "\(what): too early") }
        bench.run(.milliseconds(3_020))
        for witness in witnesses {
            #expect(witness.side.failures == (witness.waited ? [.pairing(.timedOut)] : []), "\(what)")
            let isOver = witness.waited && witness.wasEncrypted
            #expect(witness.side.manager.machine.state == (isOver ? .ended : .idle), "\(what)")
            #expect(witness.side.ends == (isOver ? 1 : 0) && !witness.side.isPromptOpen, "\(what)")
        }
        return witnesses.filter(\.waited).map(\.side)
    }

    /// Checks that no pairing is possible on this link any more.
    private static func expectDead(_ side: SecuritySide, _ bench: PairedManagers, _ what: String) {
        let stored = side.stored.count
        _ = side.takeSent()
        let (outcome, other) = (PairedManagers.Outcome(), side === bench.central ? bench.peripheral : bench.central)
        // Release the withheld commands, then try to pair from either side.
        other.link.allowance = nil
        other.link.isHeld = false
        side.manager.pair { outcome.result = $0 }
        other.link.inject(PairingRequest(PairingFeatures()).framed().bytes, on: 6)
        other.link.inject([0x0B, 1], on: 6)
        bench.run()
        #expect(outcome.error == (side.ends == 0 ? .pairing(.timedOut) : .linkLost), "\(what)")
        #expect(side.takeSent().isEmpty && side.stored.count == stored, "\(what)")
        #expect(side.manager.longTermKey(random: 0, diversifier: 0) == nil, "\(what)")
    }

    @Test(
        "SM/CEN/PROT/BV-01, SM/PER/PROT/BV-02, AB-S12: a stall at each step ends pairing after 30 seconds for good",
        arguments: PairingMethod.all,
        Securing.both
    )
    func a_stall_ends_pairing_after_30_seconds(method: PairingMethod, silent: PairingRole) throws {
        let whole = try method.managers()
        whole.central.manager.pair()
        whole.run(.seconds(3))
        #expect(whole.central.stored.count == 1)
        #expect(whole.peripheral.stored.count == 1)
        let commands = whole[silent].takeSent()
        for step in commands.indices {
            let what = "\(commands[step].code) withheld"
            let bench = try method.managers()
            bench[silent].link.allowance = step
            bench.central.manager.pair()
            let waiting = Self.expectEnd(of: bench, what)
            // A side that has not learned of a pairing does not wait for it.
            let isRequest = commands[step].code == .pairingRequest
            #expect(waiting.contains { $0 === bench[silent.other] } == !isRequest, "\(what)")
            for side in waiting { Self.expectDead(side, bench, what) }
        }
    }

    @Test(
        "AB-S12: a user who does not react ends pairing after 30 seconds for good",
        arguments: PairingMethod.all,
        Securing.both
    )
    func a_person_who_does_nothing_ends_pairing(method: PairingMethod, absent: PairingRole) throws {
        let bench = try method.managers()
        bench[absent].delay = nil
        bench.central.manager.pair()
        bench.run(.seconds(3))
        // There is no question if the device only displays, or with out-of-band data.
        let isAsked = !bench[absent].prompts.allSatisfy { PairingTests.kind($0) == "show" }
        #expect(isAsked == (bench.central.stored.isEmpty && bench.peripheral.stored.isEmpty))
        guard isAsked else { return }
        let again = try method.managers()
        again[absent].delay = nil
        again.central.manager.pair()
        let waiting = Self.expectEnd(of: again, "no answer")
        #expect(waiting.count == 2)
        for side in waiting { Self.expectDead(side, again, "no answer") }
    }

    @Test(
        "AB-S12: a controller that does not encrypt ends pairing after 30 seconds for good",
        arguments: PairingMethod.all
    )
    func a_controller_that_does_not_encrypt_ends_pairing(method: PairingMethod) throws {
        let bench = try method.managers()
        bench.air.isSilent = true
        bench.central.manager.pair()
        let waiting = Self.expectEnd(of: bench, "no encryption")
        #expect(waiting.count == 2)
        for side in waiting { Self.expectDead(side, bench, "no encryption") }
    }

    @Test("AB-S12: a Security Request that is not answered ends after 30 seconds")
    func a_security_request_that_is_not_heard_ends() throws {
        let bench = Securing.bench()
        bench.central.link.allowance = 0
        let outcome = bench.secure(.encrypted, by: .responder)
        bench.run(.milliseconds(24_990))
        #expect(outcome.result == nil)
        bench.run(.milliseconds(20))
        #expect(outcome.error == .pairing(.timedOut))
        #expect(bench.peripheral.failures == [.pairing(.timedOut)])
        #expect(bench.peripheral.manager.machine.state == .idle)
    }
}

import Cryptography
import Testing

@testable import SMP

/// Every command in every state of both roles and of every method (CVE-2019-17520, CVE-2020-13593). An attacker injects
/// it before the peer's real next command, which then arrives as well.
@Suite struct OutOfPlaceTests {
    /// The required reaction to a command that does not come from the peer.
    enum Verdict: Equatable {
        /// It is the expected command, and is judged by its contents.
        case judged
        /// It is ignored, and the pairing goes on.
        case heard
        /// It ends the pairing, and the peer is told the reason.
        case refused(PairingFailure)
        /// It reports by itself that the pairing is over.
        case ended
    }

    /// One well-formed command of each code, one that is too short, and unassigned codes.
    static let intruders: [[UInt8]] =
        (1...15 as ClosedRange<UInt8>).map { code in
            let fields: [UInt8: [UInt8]] = [
                1: [3, 0, 1, 16, 0, 0], 2: [3, 0, 1, 16, 0, 0], 5: [8], 7: [UInt8](repeating: 1, count: 10),
                9: [UInt8](repeating: 1, count: 7), 11: [1], 12: [UInt8](repeating: 1, count: 64), 14: [1],
            ]
            return [code] + (fields[code] ?? [UInt8](repeating: 1, count: 16))
        } + [[4, 1], [0, 1], [255], []]

    /// A point in a successful pairing, and the command that one side receives next.
    struct Moment {
        let bench: PairingBench
        /// The next command, if the peer sends it without waiting for anything first.
        let due: UInt8?
    }

    /// All points of a pairing from `victim`'s point of view, from before its start to after its end.
    static func moments(_ method: PairingMethod, _ victim: PairingRole) throws -> [Moment] {
        var bench = try method.bench()
        var all = [bench]
        bench.handle(.start(PairingDemand()), at: .initiator)
        repeat { all.append(bench) } while bench.step()
        #expect(bench.initiator.result != nil)
        #expect(bench.responder.result != nil)
        return all.map { now in
            let count = now[victim].received.count
            guard let next = all.first(where: { $0[victim].received.count > count }) else {
                return Moment(bench: now, due: nil)
            }
            let last = all.last { $0[victim].received.count == count } ?? now
            let isWaitedFor = last[victim].sent.count == now[victim].sent.count && last.encryptions == now.encryptions
            return Moment(bench: now, due: isWaitedFor ? next[victim].received[count] : nil)
        }
    }

    static func verdict(_ octets: [UInt8], _ moment: Moment, _ victim: PairingRole, _ method: PairingMethod) -> Verdict
    {
        let code = octets.first ?? 0
        let machine = moment.bench[victim].machine
        let isWhole = octets.count > 2 || code == 5 || code == 11 || code == 14
        guard machine.isUnderWay else {
            guard victim == .responder, code == SMPCode.pairingRequest.rawValue else { return .heard }
            return .judged
        }
        switch code {
        case _ where !(1...14).contains(code):
            return .refused(octets.isEmpty ? .invalidParameters : .commandNotSupported)
        case _ where !isWhole: return .refused(.invalidParameters)
        case 0x05: return .ended
        // It asks for a pairing that is already in progress (Core Vol 3 Part H 2.4.6).
        case 0x0B where victim == .initiator: return .heard
        case 0x0E where method.isPasskey && isExchanging(machine): return .heard
        default: return code == moment.due ? .judged : .refused(.unspecifiedReason)
        }
    }

    private static func isExchanging(_ machine: PairingMachine) -> Bool {
        if case .exchanging = machine.state { true } else { false }
    }

    @Test(
        "AB-S05: no misplaced command advances a pairing",
        arguments: PairingMethod.all,
        [PairingRole.initiator, .responder]
    )
    func no_command_out_of_its_place_brings_a_pairing_further(method: PairingMethod, victim: PairingRole) throws {
        var verdicts: [String: Int] = [:]
        let moments = try Self.moments(method, victim)
        for (index, moment) in moments.enumerated() {
            for octets in Self.intruders {
                let verdict = Self.verdict(octets, moment, victim, method)
                verdicts["\(verdict)", default: 0] += 1
                var bench = moment.bench
                bench.receive(octets, at: victim)
                let faults = Self.faults(verdict, bench, before: moment.bench, from: moments[0].bench, victim)
                #expect(faults.isEmpty, "moment \(index), \(octets.prefix(3)), \(verdict)")
            }
        }
        // A command is out of place nearly everywhere, and is refused for that.
        #expect(verdicts["\(Verdict.refused(.unspecifiedReason))", default: 0] > moments.count * 6)
    }

    /// Returns the faults in a device's reaction to an intruder.
    private static func faults(
        _ verdict: Verdict,
        _ after: PairingBench,
        before: PairingBench,
        from first: PairingBench,
        _ victim: PairingRole
    ) -> [String] {
        var bench = after
        var faults: [String] = []
        func check(_ isRight: Bool, _ fault: String) { if !isRight { faults.append(fault) } }
        let wasDistributing = if case .distributing = before[victim].machine.state { true } else { false }
        let side = bench[victim]
        switch verdict {
        case .heard:
            check(side.machine.isUnderWay == before[victim].machine.isUnderWay, "another state")
            check(side.sent == before[victim].sent, "it is answered")
            bench.run()
            let isStarted = before.initiator.machine.isUnderWay || before.initiator.result != nil
            check(
                (bench[victim].result != nil) == isStarted && bench[victim].error == nil,
                "the pairing does not continue"
            )
        case .judged:
            bench.run()
            // Over an encrypted link the peer's last key may have any value.
            let hadResult = before[victim].result != nil
            check(bench[victim].result == nil || hadResult || wasDistributing, "an injected command gave keys")
        case .refused, .ended:
            let reason: PairingFailure = if case .refused(let reason) = verdict { reason } else { .unspecifiedReason }
            let error = verdict == .ended ? PairingError.refusedByPeer(reason) : .refused(reason)
            check(side.error == error, "it ends with \(String(describing: side.error))")
            let isTold = side.sent.last == .failed(PairingFailed(reason))
            check(isTold == (verdict != .ended), "told \(isTold)")
            check(!side.machine.isUnderWay && !side.machine.isDead && side.machine.agreedKey == nil, "another state")
            check(!side.isTimerRunning && !side.isPromptOpen, "the machine still waits for something")
            faults += rest(of: bench, before: before, from: first, victim, isTold: isTold)
        }
        return faults
    }

    /// The peer's own pending commands do not revive the pairing; a new one succeeds.
    private static func rest(
        of bench: PairingBench,
        before: PairingBench,
        from first: PairingBench,
        _ victim: PairingRole,
        isTold: Bool
    ) -> [String] {
        var bench = bench
        // Once per point suffices.
        let isLast = bench[victim].received.last == 0x0F
        var faults: [String] = []
        func check(_ isRight: Bool, _ fault: String) { if !isRight { faults.append(fault) } }
        bench.run()
        check(bench[victim].result == nil, "the victim got keys")
        let peer = before[victim.other]
        // Keys in transit when the pairing ended arrive before the failure.
        let wasDistributing = if case .distributing = before[victim].machine.state { true } else { false }
        if isTold, !wasDistributing, peer.machine.isUnderWay, peer.result == nil {
            check(bench[victim.other].result == nil && bench[victim.other].error != nil, "the other side got keys")
        }
        // An attacker that forges the end of a pairing does not notify the other side.
        guard isTold, isLast, !bench[victim.other].machine.isUnderWay else { return faults }
        // Out-of-band data serve for one pairing.
        for role in [PairingRole.initiator, .responder] {
            bench[role].machine.context.ownData = first[role].machine.context.ownData
            bench[role].machine.context.peerData = first[role].machine.context.peerData
        }
        bench.pair()
        check(bench.initiator.result != nil && bench.responder.result != nil, "no new pairing")
        return faults
    }
}

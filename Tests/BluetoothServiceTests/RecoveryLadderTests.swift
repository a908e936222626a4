import HCI
import HCIHost
import Testing

@testable import BluetoothService

/// The recovery ladder, step by step.
@Suite struct RecoveryLadderTests {
    private let cause = HCIHostError.hardwareError(1)

    private func step(_ ladder: RecoveryLadder) -> Int {
        if case .escalated(let step, _, _) = ladder.state { step.rawValue } else { 0 }
    }

    private func took(_ step: RecoveryStep) -> RecoveryLadder.Action { .report(.took(step, cause)) }

    @Test("step 1: the host resets, which is reported, and nothing else happens")
    func stepOne() {
        var ladder = RecoveryLadder()
        #expect(ladder.handle(.reset(cause)) == [.endQuietTime, took(.reset)])
        #expect(step(ladder) == 1)
        #expect(ladder.handle(.ready) == [.startQuietTime])
    }

    @Test("steps 2, 3, 4: each further failure climbs one step, and only the last step is repeated")
    func stepsFollowEachOther() {
        var ladder = RecoveryLadder()
        #expect(ladder.handle(.failed(cause)) == [.endQuietTime, took(.reopen), .apply(.reopen)])
        #expect(step(ladder) == 2)
        #expect(ladder.handle(.ready) == [.startQuietTime])
        // The host makes its own attempts with the reopened transport; that is no step down.
        #expect(ladder.handle(.reset(cause)) == [.endQuietTime, took(.reset)])
        #expect(step(ladder) == 2)
        #expect(ladder.handle(.failed(cause)) == [.endQuietTime, took(.resetDevice), .apply(.resetDevice)])
        #expect(step(ladder) == 3)
        #expect(ladder.handle(.deviceReset(.done)).isEmpty)
        #expect(step(ladder) == 3)
        #expect(
            ladder.handle(.failed(cause)) == [
                .endQuietTime, took(.powerOff), .advise(cause), .apply(.wait(.seconds(1))),
            ]
        )
        #expect(step(ladder) == 4)
    }

    @Test(
        "step 3 is skipped without a way to reset the device, and a failed device reset leads to a new transport"
    )
    func stepThreeIsLeftOutWhereThereIsNoWay() {
        var ladder = RecoveryLadder()
        for _ in 0..<2 { _ = ladder.handle(.failed(cause)) }
        var other = ladder
        #expect(other.handle(.deviceReset(.failed(reason: ""))).isEmpty)
        #expect(step(other) == 3)
        #expect(
            ladder.handle(.deviceReset(.impossible)) == [
                .report(.skipped(.resetDevice)), .endQuietTime, took(.powerOff), .advise(cause),
                .apply(.wait(.seconds(1))),
            ]
        )
    }

    @Test("step 4: retries become rarer up to a limit, and the user is advised once")
    func theLastStepBacksOff() {
        var ladder = RecoveryLadder()
        for _ in 0..<3 { _ = ladder.handle(.failed(cause)) }
        var pauses: [Duration] = []
        for _ in 0..<8 {
            // The controller may come up each time and fail at once.
            _ = ladder.handle(.ready)
            let actions = ladder.handle(.failed(cause))
            #expect(!actions.contains(.advise(cause)))
            for case .apply(.wait(let pause)) in actions { pauses.append(pause) }
        }
        #expect(pauses == [2, 4, 8, 16, 30, 30, 30, 30].map { Duration.seconds($0) })
    }

    @Test("a controller that has worked for long enough starts at the bottom again")
    func oneThatHasWorkedBeginsAtTheBottom() {
        var ladder = RecoveryLadder()
        for _ in 0..<3 { _ = ladder.handle(.failed(cause)) }
        _ = ladder.handle(.ready)
        #expect(step(ladder) == 4)
        #expect(ladder.handle(.quiet) == [.report(.recovered(after: .powerOff))])
        #expect(ladder.state == .healthy)
        #expect(ladder.handle(.quiet).isEmpty)
        _ = ladder.handle(.failed(cause))
        #expect(step(ladder) == 2)
    }

    @Test("a controller that was unplugged has lost power, and starts at the bottom")
    func oneThatWasAwayBeginsAtTheBottom() {
        let away = HCIHostError.transport(.unreachable(address: "", reason: ""))
        for event in [RecoveryLadder.Event.absent, .failed(away)] {
            var ladder = RecoveryLadder()
            for _ in 0..<3 { _ = ladder.handle(.failed(cause)) }
            let next: [RecoveryLadder.Action] = event == .absent ? [] : [.apply(.reopen)]
            #expect(ladder.handle(event) == [.endQuietTime, .report(.left(at: .powerOff))] + next)
            #expect(ladder.state == .healthy)
            #expect(ladder.handle(event) == [.endQuietTime] + next)
        }
    }

    @Test func aLineThatEndsAgainAndAgainIsAFailureToo() {
        var ladder = RecoveryLadder()
        let ended = HCIHostError.transport(.closedByPeer)
        for expected in [2, 3, 4, 4] {
            _ = ladder.handle(.failed(ended))
            _ = ladder.handle(.ready)
            #expect(step(ladder) == expected)
        }
    }

    @Test func unsupportedControllersAreNotEscalated() {
        var ladder = RecoveryLadder()
        let lacking = HCIHostError.unsupportedController(reason: "it has no buffers for data")
        for _ in 0..<3 { #expect(ladder.handle(.failed(lacking)) == [.apply(.reopen)]) }
        #expect(ladder.state == .healthy)
    }

    @Test func noticesContainAdvice() {
        let notice = "\(SystemNotice.controllerStaysBroken(cause))"
        #expect(notice.contains("power the controller off"))
        #expect(notice.contains("hardware error 0x1"))
        #expect("\(SystemNotice.controllerStaysBroken(.transport(.closedByPeer)))".contains("cable"))
        #expect(RecoveryStep.allCases.map(\.rawValue) == [1, 2, 3, 4])
        #expect(RecoveryStep.powerOff.next == .powerOff)
    }
}

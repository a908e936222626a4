import BluetoothTypes
import ControllerStandIns
import HCI
import Testing

@testable import HCIHost

/// How a host leaves its controller: silent, and without sending a command that the controller has not allowed yet
/// (Core Vol 4 Part E 4.4).
@Suite struct StopTests {
    /// A host that has stopped while LE Rand is unanswered, and the number of times it has reported silence.
    private final class Leaving {
        let bench = HostBench()
        var silences = 0

        init() {
            bench.up()
            bench.controller.reaction = { $0 == LERand.opcode ? .silence : .answer }
            bench.host.send(LERand())
            bench.host.send(LERand())
            bench.host.stop()
            bench.host.whenSilent { [unowned self] in silences += 1 }
        }

        var commands: [String] { bench.transport.commandNames }

        func answer(credits: UInt8) {
            bench.controller.credits = credits
            bench.controller.complete(LERand.opcode, LERand.Response(number: 1).encoded())
            bench.run(.milliseconds(100))
        }
    }

    @Test("the reset of a stopping host waits for the answer to the pending command, and no other command is sent")
    func theResetWaitsForTheAnswer() {
        let leaving = Leaving()
        leaving.bench.run(.milliseconds(100))
        #expect(leaving.commands == ["LE Rand"])
        #expect(leaving.silences == 0)
        #expect(leaving.bench.host.state == .down)
        leaving.answer(credits: 1)
        #expect(leaving.commands == ["LE Rand", "Reset"])
        #expect(leaving.silences == 1)
        leaving.bench.run(.seconds(10))
        #expect(leaving.commands == ["LE Rand", "Reset"])
        #expect(leaving.silences == 1)
    }

    @Test("the reset of a stopping host waits for a command credit")
    func theResetWaitsForACredit() {
        let leaving = Leaving()
        leaving.answer(credits: 0)
        #expect(leaving.commands == ["LE Rand"])
        #expect(leaving.silences == 0)
        leaving.bench.inject(HardwareError(code: 1))
        leaving.bench.inject(HostBench.connectionComplete(0x40))
        #expect(leaving.commands == ["LE Rand"])
        #expect(leaving.bench.connections.isEmpty)
        leaving.bench.inject(CommandStatus(status: .success, credits: 1, opcode: .none))
        #expect(leaving.commands == ["LE Rand", "Reset"])
        #expect(leaving.silences == 1)
    }

    @Test("AB-H06: a controller that owes an answer for too long is reset nevertheless")
    func aSilentControllerIsReset() {
        let leaving = Leaving()
        leaving.bench.run(CommandQueue.answerTimeout - .milliseconds(1))
        #expect(leaving.commands == ["LE Rand"])
        #expect(leaving.silences == 0)
        leaving.bench.run(.milliseconds(2))
        #expect(leaving.commands == ["LE Rand", "Reset"])
        #expect(leaving.silences == 1)
    }

    @Test("a host without a pending command resets its controller at once")
    func aHostThatIsIdleResetsAtOnce() {
        let bench = HostBench.up()
        bench.host.stop()
        var isSilent = false
        bench.host.whenSilent { isSilent = true }
        #expect(bench.transport.commandNames == ["Reset"])
        #expect(isSilent)
        bench.host.stop()
        #expect(bench.transport.commandNames == ["Reset"])
    }

    @Test("a host that is restarted before the answer resets its controller once, and comes up")
    func aHostThatIsStartedAgainComesUp() {
        let leaving = Leaving()
        leaving.bench.host.start()
        #expect(leaving.silences == 1)
        leaving.bench.run(.seconds(5))
        #expect(leaving.bench.information != nil)
        #expect(leaving.commands.count { $0 == "Reset" } == 1)
    }

    @Test("a transport that closes before the reset leaves no caller waiting")
    func aLineThatClosesLeavesNobodyWaiting() {
        let leaving = Leaving()
        leaving.bench.transport.onClose?(.closedByPeer)
        #expect(leaving.silences == 1)
        leaving.bench.run(.seconds(5))
        #expect(leaving.commands == ["LE Rand"])
        #expect(leaving.silences == 1)
    }
}

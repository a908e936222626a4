import BluetoothTypes
import HCI
import Testing

@testable import HCIHost

@Suite struct CommandQueueTests {
    private func entry(_ number: UInt64, _ command: some HCICommand) -> CommandQueue.Event {
        let packet = HCIPacket(command)
        let kind = type(of: command)
        return .add(
            CommandQueue.Entry(number: number, opcode: kind.opcode, packet: packet),
            isAnsweredByStatus: kind.isAnsweredByStatus
        )
    }

    private func complete(_ command: any HCICommand.Type, credits: UInt8 = 1) -> CommandQueue.Event {
        .complete(CommandComplete(credits: credits, opcode: command.opcode, parameters: [0]))
    }

    private func status(_ command: any HCICommand.Type, _ status: HCIStatus, credits: UInt8 = 1) -> CommandQueue.Event {
        .status(CommandStatus(status: status, credits: credits, opcode: command.opcode))
    }

    private func text(_ actions: [CommandQueue.Action]) -> String {
        actions.map { action in
            switch action {
            case .send(let packet): "send \((try? CommandPacket(reading: packet.bytes))?.opcode.description ?? "?")"
            case .finish(let number, let answer):
                "finish \(number) \(answer == .status(.success) ? "status" : "answer")"
            case .refuse(let number): "refuse \(number)"
            case .setTimer(let duration): "timer \(duration.components.seconds)"
            case .clearTimer: "clear"
            case .fail(let error): "fail \(error)"
            case .ignored(let opcode): "ignored \(opcode)"
            }
        }.joined(separator: ", ")
    }

    @Test func oneCommandIsUnderWayAtATime() {
        var queue = CommandQueue()
        #expect(text(queue.handle(entry(1, Reset()))) == "send 0x0c03, timer 10")
        #expect(text(queue.handle(entry(2, LERand()))) == "")
        #expect(text(queue.handle(complete(Reset.self, credits: 5))) == "clear, finish 1 answer, send 0x2018, timer 2")
        #expect(text(queue.handle(complete(LERand.self))) == "clear, finish 2 answer")
        #expect(text(queue.handle(.timeout)) == "")
    }

    @Test func aControllerThatTakesNoCommandIsWaitedForUpToATimeLimit() {
        var queue = CommandQueue()
        _ = queue.handle(entry(1, Reset()))
        #expect(text(queue.handle(complete(Reset.self, credits: 0))) == "clear, finish 1 answer")
        #expect(text(queue.handle(entry(2, LERand()))) == "timer 4")
        #expect(text(queue.handle(entry(3, LERand()))) == "")
        var other = queue
        #expect(text(queue.handle(.timeout)) == "fail the controller accepts no more commands")
        let leave = CommandComplete(credits: 1, opcode: .none, parameters: [])
        #expect(text(other.handle(.complete(leave))) == "send 0x2018, timer 2")
    }

    @Test func commandStatusAnswersTheCommandsThatItShould() {
        var queue = CommandQueue()
        _ = queue.handle(entry(1, Disconnect()))
        #expect(text(queue.handle(status(Disconnect.self, .success))) == "clear, finish 1 status")
        // A command answered by Command Complete may be rejected by Command Status, but not accepted by it.
        _ = queue.handle(entry(2, LERand()))
        #expect(text(queue.handle(status(LERand.self, .success))) == "")
        #expect(text(queue.handle(status(LERand.self, .unknownCommand))) == "clear, finish 2 answer")
    }

    @Test func commandsFollowTheCreditsOfAStatus() {
        var queue = CommandQueue()
        _ = queue.handle(entry(1, Disconnect()))
        #expect(text(queue.handle(status(Disconnect.self, .success, credits: 0))) == "clear, finish 1 status")
        #expect(text(queue.handle(entry(2, LERand()))) == "timer 4")
        let leave = CommandStatus(status: .success, credits: 1, opcode: .none)
        #expect(text(queue.handle(.status(leave))) == "send 0x2018, timer 2")
    }

    @Test("AB-H06: answers to other commands do not count")
    func answersToOtherCommandsDoNotCount() {
        var queue = CommandQueue()
        _ = queue.handle(entry(1, LERand()))
        #expect(text(queue.handle(complete(ReadBDADDR.self))) == "ignored 0x1009")
        #expect(text(queue.handle(status(Disconnect.self, .success))) == "ignored 0x0406")
        #expect(
            text(queue.handle(.timeout)) == "fail the controller does not answer LE Rand (0x2018)"
        )
        #expect(text(queue.handle(complete(LERand.self))) == "clear, finish 1 answer")
        #expect(text(queue.handle(complete(LERand.self))) == "ignored 0x2018")
    }

    @Test func theListIsBounded() {
        var queue = CommandQueue()
        let count = UInt64(CommandQueue.maximumWaiting)
        for number in 0...count { #expect(!text(queue.handle(entry(number, LERand()))).contains("refuse")) }
        #expect(text(queue.handle(entry(count + 1, LERand()))) == "refuse \(count + 1)")
        #expect(queue.removeAll() == Array(0...count))
        #expect(queue.removeAll() == [])
    }
}

import BluetoothTypes
import DequeModule
import HCI

/// Which command goes to the controller when, and what its answers mean (Core Vol 4 Part E 4.4).
///
/// One command is under way at a time even when the controller would take more: sequences such as "disable, set,
/// enable" rely on their order, and a wrong answer can be told from a late one. A controller that takes no command, or
/// does not answer the one that it took, runs into a time limit (AB-H06).
struct CommandQueue {
    /// Commands that may wait; more are refused.
    static let maximumWaiting = 256
    /// How long an answer may take.
    static let answerTimeout = Duration.seconds(2)
    /// How long a controller may take no command.
    static let creditTimeout = Duration.seconds(4)
    /// How long a reset may take: some controllers load their firmware anew.
    static let resetTimeout = Duration.seconds(10)

    struct Entry {
        var number: UInt64
        var opcode: Opcode
        var packet: HCIPacket

        var timeout: Duration { opcode == Reset.opcode ? CommandQueue.resetTimeout : CommandQueue.answerTimeout }
    }

    enum Answer: Hashable {
        /// Command Complete, with the return parameters.
        case complete(PacketBuffer)
        /// Command Status.
        case status(HCIStatus)
    }

    enum Event {
        case add(Entry, isAnsweredByStatus: Bool)
        case complete(CommandComplete)
        case status(CommandStatus)
        case timeout
    }

    enum Action {
        case send(HCIPacket)
        case finish(UInt64, Answer)
        case refuse(UInt64)
        case setTimer(Duration)
        case clearTimer
        /// The controller does not answer: everything is to be reset.
        case fail(HCIHostError)
        /// An answer to something that was not asked.
        case ignored(Opcode)
    }

    private enum State {
        case idle
        case awaitsAnswer(Entry, isAnsweredByStatus: Bool)
        case awaitsCredit
    }

    private var state = State.idle
    private var waiting = Deque<(entry: Entry, isAnsweredByStatus: Bool)>()
    private var credits: UInt8 = 1

    /// The commands that wait or are under way, in the order of sending. Leaves the queue as after a reset, when a
    /// controller takes one command.
    mutating func removeAll() -> [UInt64] {
        var numbers = waiting.map(\.entry.number)
        if case .awaitsAnswer(let entry, _) = state { numbers.insert(entry.number, at: 0) }
        self = CommandQueue()
        return numbers
    }

    /// Whether the controller has to answer before it takes another command.
    var isOwed: Bool { if case .awaitsAnswer = state { true } else { credits == 0 } }

    /// The queue without the commands that wait, for a host that only has one more to send.
    var withoutWaiting: CommandQueue {
        var queue = self
        queue.waiting = []
        return queue
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .add(let entry, let isAnsweredByStatus):
            guard waiting.count < Self.maximumWaiting else { return [.refuse(entry.number)] }
            waiting.append((entry, isAnsweredByStatus))
            return sendNext()
        case .complete(let event):
            credits = event.credits
            return answer(to: event.opcode, .complete(event.parameters))
        case .status(let event):
            credits = event.credits
            return answer(to: event.opcode, .status(event.status))
        case .timeout:
            switch state {
            case .idle: return []
            case .awaitsAnswer(let entry, _): return [.fail(.commandTimedOut(entry.opcode))]
            case .awaitsCredit: return [.fail(.noCommandCredits)]
            }
        }
    }

    private mutating func answer(to opcode: Opcode, _ answer: Answer) -> [Action] {
        guard case .awaitsAnswer(let entry, let isAnsweredByStatus) = state, entry.opcode == opcode else {
            return (opcode == .none ? [] : [.ignored(opcode)]) + sendNext()
        }
        // Command Status with success for a command that Command Complete answers: the answer proper is to come.
        if !isAnsweredByStatus, answer == .status(.success) { return [] }
        state = .idle
        return [.clearTimer, .finish(entry.number, answer)] + sendNext()
    }

    private mutating func sendNext() -> [Action] {
        if case .awaitsAnswer = state { return [] }
        guard let (entry, isAnsweredByStatus) = waiting.first else { return [] }
        guard credits > 0 else {
            if case .awaitsCredit = state { return [] }
            state = .awaitsCredit
            return [.setTimer(Self.creditTimeout)]
        }
        waiting.removeFirst()
        credits -= 1
        state = .awaitsAnswer(entry, isAnsweredByStatus: isAnsweredByStatus)
        return [.send(entry.packet), .setTimer(entry.timeout)]
    }
}

import BluetoothTypes
import DequeModule
import HCI

/// The HCI command flow control and the matching of answers to commands (Core Vol 4 Part E 4.4).
///
/// Only one command is pending at a time, even if the controller would accept more: sequences such as "disable, set,
/// enable" rely on their order, and a wrong answer can be told from a late one. A time-out applies to a controller that
/// grants no command credit, and to one that does not answer a command (AB-H06).
struct CommandQueue {
    /// The maximum number of queued commands; further ones are refused.
    static let maximumWaiting = 256
    static let answerTimeout = Duration.seconds(2)
    static let creditTimeout = Duration.seconds(4)
    /// The time-out for the answer to a reset, during which some controllers reload their firmware.
    static let resetTimeout = Duration.seconds(10)

    struct Entry {
        var number: UInt64
        var opcode: Opcode
        var packet: HCIPacket

        var timeout: Duration { opcode == Reset.opcode ? CommandQueue.resetTimeout : CommandQueue.answerTimeout }
    }

    enum Answer: Hashable {
        case complete(PacketBuffer)
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
        /// The controller has not answered and must be reset.
        case fail(HCIHostError)
        /// An answer to a command that is not pending.
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

    /// Empties the queue and returns it to its state after a reset, when the controller accepts one command.
    ///
    /// - Returns: The numbers of the pending and queued commands, in the order of sending.
    mutating func removeAll() -> [UInt64] {
        var numbers = waiting.map(\.entry.number)
        if case .awaitsAnswer(let entry, _) = state { numbers.insert(entry.number, at: 0) }
        self = CommandQueue()
        return numbers
    }

    /// Whether the controller must send an event before it accepts another command.
    var awaitsController: Bool { if case .awaitsAnswer = state { true } else { credits == 0 } }

    /// A copy without the queued commands, for a host that only has a final reset to send.
    var withoutWaiting: CommandQueue {
        var queue = self
        queue.waiting = []
        return queue
    }

    /// The number of commands whose answer is due.
    var count: Int { if case .awaitsAnswer = state { waiting.count + 1 } else { waiting.count } }

    /// Whether the time-out for an answer or a credit runs.
    var isTimed: Bool { if case .idle = state { false } else { true } }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each event.
    var brokenInvariant: String? {
        guard waiting.count <= Self.maximumWaiting else { return "too many commands wait" }
        switch state {
        case .idle: return waiting.isEmpty ? nil : "a command waits for nothing"
        case .awaitsAnswer: return nil
        case .awaitsCredit: return credits == 0 || waiting.isEmpty ? nil : "a command waits although there is a credit"
        }
    }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
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
        // A Command Status of success for a command that Command Complete answers: the actual answer is still to come.
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

extension HCICommand {
    /// Converts an answer to the result that the sender of the command receives.
    static func result(of answer: CommandQueue.Answer) -> Result<Response, HCICommandError> {
        switch answer {
        case .status(.success): return .success(Response())
        case .status(let status): return .failure(.refused(opcode, status))
        case .complete(var parameters):
            if Response.self is any BitmapResponse.Type, parameters.first == 0 {
                parameters = parameters.withZerosBehind
            }
            do throws(PacketError) {
                let response = try Response.reading(parameters)
                return response.status == .success ? .success(response) : .failure(.refused(opcode, response.status))
            } catch {
                return .failure(.malformedResponse(opcode, error))
            }
        }
    }
}

import BluetoothTypes
import EventLoops
import ServiceMessages

/// A tool's side of its conversation with a service: finds a service that is listening, asks questions, and receives
/// streams. Used on its event loop.
package final class ToolClient {
    /// The reason why there is no conversation, or why it ended.
    package enum Failure: Error, Hashable {
        /// No service is listening at any of the paths.
        case noService(tried: [MessageLineError])
        case refused(String)
        case ended(String)
        case lost(MessageLineError)
    }

    /// How long a service may take to welcome a tool.
    static let welcomeTimeout = Duration.seconds(10)

    private enum State {
        case idle
        case dialing(left: ArraySlice<any Dialer>, tried: [MessageLineError])
        case handshaking(any MessageLine, ScheduledTask)
        case open(any MessageLine)
        case closed
    }

    private struct Question {
        let onLine: ((String) -> Void)?
        let answer: (Result<String, ServiceError>) -> Void
    }

    /// Called with a prompt for the user. The number is for ``answer(_:_:)``; 0 for a notice without an answer.
    package var onPrompt: ((UInt32, PersonQuestion) -> Void)?
    /// Called when the prompt with this number needs no answer any more.
    package var onPromptClosed: ((UInt32) -> Void)?
    /// Called once when there is no conversation, or it has ended, unless this side closed it. Open questions are not
    /// answered.
    package var onEnd: ((Failure) -> Void)?

    private let dialers: [any Dialer]
    private let loop: any EventLoop
    private var state = State.idle
    private var onOpen: (() -> Void)?
    private var questions: [UInt32: Question] = [:]
    private var lastNumber: UInt32 = 0

    /// Creates a tool that tries one dialer after the other.
    package init(_ dialers: [any Dialer], loop: any EventLoop) {
        self.dialers = dialers
        self.loop = loop
    }

    /// Connects to a service. `completion` is called once a service has welcomed this tool.
    package func open(_ completion: @escaping () -> Void) {
        guard case .idle = state else { return }
        onOpen = completion
        dial(dialers[...], [])
    }

    /// Asks a question. For a stream, `onLine` receives the lines, and `answer` is called at its end.
    ///
    /// - Returns: The number for ``stop(_:)``.
    @discardableResult
    package func ask(
        _ question: ToolQuestion,
        onLine: ((String) -> Void)? = nil,
        answer: @escaping (Result<String, ServiceError>) -> Void
    ) -> UInt32 {
        lastNumber &+= 1
        questions[lastNumber] = Question(onLine: onLine, answer: answer)
        transmit(.ask(number: lastNumber, question))
        return lastNumber
    }

    /// Ends a stream that ``ask(_:onLine:answer:)`` has started.
    package func stop(_ number: UInt32) { transmit(.stop(number: number)) }

    /// Sends the user's answer to a prompt of ``onPrompt``.
    package func answer(_ number: UInt32, _ answer: PersonAnswer) { transmit(.answer(number: number, answer)) }

    /// Closes the conversation without calling ``onEnd``.
    package func close() {
        let old = state
        state = .closed
        questions = [:]
        switch old {
        case .handshaking(let line, let timer):
            loop.cancel(timer)
            line.close()
        case .open(let line): line.close()
        case .idle, .dialing, .closed: break
        }
    }

    private func transmit(_ message: ToolMessage) {
        if case .open(let line) = state { line.send(message.encoded()) }
    }
}

// MARK: - Connecting to the service

extension ToolClient {
    private func dial(_ left: ArraySlice<any Dialer>, _ tried: [MessageLineError]) {
        guard let next = left.first else { return end(.noService(tried: tried)) }
        state = .dialing(left: left.dropFirst(), tried: tried)
        next.dial { [weak self] result in
            guard let self, case .dialing(let left, let tried) = state else {
                if case .success(let line) = result { line.close() }
                return
            }
            switch result {
            case .failure(let error): dial(left, tried + [error])
            case .success(let line): sendHello(line)
            }
        }
    }

    private func sendHello(_ line: any MessageLine) {
        let timer = loop.schedule(after: Self.welcomeTimeout) { [weak self] in
            self?.end(.refused("it did not answer within \(Self.welcomeTimeout)"))
        }
        state = .handshaking(line, timer)
        line.onReceive = { [weak self] in self?.received($0) }
        line.onClose = { [weak self] in self?.end(.lost($0)) }
        line.send(Opening.tool(version: Hello.version).encoded())
    }

    private func received(_ message: PacketBuffer) {
        do throws(PacketError) {
            switch state {
            case .handshaking(let line, let timer): welcomed(try ServiceMessage(reading: message), line, timer)
            case .open: receive(try ToolReply(reading: message))
            case .idle, .dialing, .closed: break
            }
        } catch {
            end(.lost(.malformed("\(error)")))
        }
    }

    private func welcomed(_ message: ServiceMessage, _ line: any MessageLine, _ timer: ScheduledTask) {
        switch message {
        case .welcome(let welcome) where welcome.version == Hello.version:
            loop.cancel(timer)
            state = .open(line)
            onOpen?()
            onOpen = nil
        case .welcome(let welcome):
            end(.refused("it uses protocol version \(welcome.version), and this tool \(Hello.version)"))
        case .goodbye(let error): end(.refused(error.reason ?? "it gave no reason"))
        case .event, .reply, .adviceWanted, .placeWanted: end(.lost(.malformed("it is for an app")))
        }
    }

    private func receive(_ reply: ToolReply) {
        switch reply {
        case .answer(let number, let result): questions.removeValue(forKey: number)?.answer(result)
        case .event(let number, let text): questions[number]?.onLine?(text)
        case .prompt(let number, let question): onPrompt?(number, question)
        case .promptClosed(let number): onPromptClosed?(number)
        case .goodbye(let error): end(.ended(error.reason ?? "it gave no reason"))
        }
    }

    private func end(_ failure: Failure) {
        if case .closed = state { return }
        close()
        onEnd?(failure)
    }
}

extension ToolClient.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noService(let tried) where tried.isEmpty:
            "no path of a Bluetooth service is known; name its socket with --service PATH"
        case .noService(let tried):
            tried.map(\.place).joined(separator: "; ")
                + "; start a Bluetooth service with `harald service`, or name its socket with --service PATH"
        case .refused(let reason): "the Bluetooth service refused this tool: \(reason)"
        case .ended(let reason): "the Bluetooth service closed the connection: \(reason)"
        case .lost(let error): "the connection to the Bluetooth service was lost: \(error)"
        }
    }
}

extension MessageLineError {
    /// The problem without the remedy, which the message gives once for all paths.
    fileprivate var place: String {
        if case .unreachable(let path, let reason) = self {
            "no service is listening at \(path): \(reason)"
        } else {
            "\(self)"
        }
    }
}

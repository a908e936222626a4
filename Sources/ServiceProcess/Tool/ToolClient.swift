import BluetoothService
import BluetoothTypes
import EventLoops

/// The tool's side of its conversation with a service: finds one that listens, asks, and takes what streams bring. Lives on its loop.
package final class ToolClient {
    /// Why there is no conversation, or none any more.
    package enum Failure: Error, Hashable {
        /// Nobody listens at any of the places.
        case noService(tried: [MessageLineError])
        /// There is a service, which does not want this tool.
        case refused(String)
        /// The service has ended it.
        case ended(String)
        /// It was there, and is gone.
        case lost(MessageLineError)
    }

    /// How long a service may take to welcome a tool.
    static let patience = Duration.seconds(10)

    private enum State {
        case idle
        case dialing(left: ArraySlice<any Dialer>, tried: [MessageLineError])
        case greeting(any MessageLine, ScheduledTask)
        case open(any MessageLine)
        case closed
    }

    private struct Question {
        let onLine: ((String) -> Void)?
        let answer: (Result<String, ServiceError>) -> Void
    }

    /// A person is asked, or told; the number is for ``answer(_:_:)``, 0 for what needs no answer.
    package var onPrompt: ((UInt32, PersonQuestion) -> Void)?
    /// What was asked with this number needs no answer any more.
    package var onPromptClosed: ((UInt32) -> Void)?
    /// Called once when there is no conversation, or none any more, unless it was closed here. Questions that are open stay so.
    package var onEnd: ((Failure) -> Void)?

    private let dialers: [any Dialer]
    private let loop: any EventLoop
    private var state = State.idle
    private var onOpen: (() -> Void)?
    private var questions: [UInt32: Question] = [:]
    private var lastNumber: UInt32 = 0

    /// A tool that looks for its service with one dialer after the other.
    package init(_ dialers: [any Dialer], loop: any EventLoop) {
        self.dialers = dialers
        self.loop = loop
    }

    /// Looks for a service; `completion` is called once there is one that welcomes this tool.
    package func open(_ completion: @escaping () -> Void) {
        guard case .idle = state else { return }
        onOpen = completion
        dial(dialers[...], [])
    }

    /// Asks. Of a stream `onLine` takes the lines, and the answer is its end.
    ///
    /// - Returns: What ``stop(_:)`` takes.
    @discardableResult
    package func ask(
        _ question: ToolQuestion,
        onLine: ((String) -> Void)? = nil,
        answer: @escaping (Result<String, ServiceError>) -> Void
    ) -> UInt32 {
        lastNumber &+= 1
        questions[lastNumber] = Question(onLine: onLine, answer: answer)
        say(.ask(number: lastNumber, question))
        return lastNumber
    }

    /// Ends a stream.
    package func stop(_ number: UInt32) { say(.stop(number: number)) }

    /// What the person says to ``onPrompt``.
    package func answer(_ number: UInt32, _ answer: PersonAnswer) { say(.answer(number: number, answer)) }

    /// Ends it.
    package func close() {
        let old = state
        state = .closed
        questions = [:]
        switch old {
        case .greeting(let line, let timer):
            loop.cancel(timer)
            line.close()
        case .open(let line): line.close()
        case .idle, .dialing, .closed: break
        }
    }

    private func say(_ message: ToolMessage) {
        if case .open(let line) = state { line.send(message.encoded()) }
    }
}

// MARK: - Coming to the service

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
            case .success(let line): greet(line)
            }
        }
    }

    private func greet(_ line: any MessageLine) {
        let timer = loop.schedule(after: Self.patience) { [weak self] in
            self?.end(.refused("nothing was said within \(Self.patience)"))
        }
        state = .greeting(line, timer)
        line.onReceive = { [weak self] in self?.received($0) }
        line.onClose = { [weak self] in self?.end(.lost($0)) }
        line.send(Opening.tool(version: Hello.version).encoded())
    }

    private func received(_ message: PacketBuffer) {
        do throws(PacketError) {
            switch state {
            case .greeting(let line, let timer): welcomed(try ServiceMessage(reading: message), line, timer)
            case .open: heard(try ToolReply(reading: message))
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
            end(.refused("it speaks version \(welcome.version) of the messages, and this tool \(Hello.version)"))
        case .goodbye(let error): end(.refused(error.reason ?? "it does not say why"))
        case .event, .reply: end(.lost(.malformed("it is for an app")))
        }
    }

    private func heard(_ reply: ToolReply) {
        switch reply {
        case .answer(let number, let result): questions.removeValue(forKey: number)?.answer(result)
        case .happening(let number, let text): questions[number]?.onLine?(text)
        case .prompt(let number, let question): onPrompt?(number, question)
        case .promptClosed(let number): onPromptClosed?(number)
        case .goodbye(let error): end(.ended(error.reason ?? "it does not say why"))
        }
    }

    private func end(_ failure: Failure) {
        if case .closed = state { return }
        close()
        onEnd?(failure)
    }
}

extension ToolClient.Failure: CustomStringConvertible {
    /// What happened, and what to do.
    package var description: String {
        switch self {
        case .noService(let tried) where tried.isEmpty:
            "there is no place to look for a Bluetooth service; name its socket with --service PATH"
        case .noService(let tried):
            tried.map(\.place).joined(separator: "; ")
                + "; start a Bluetooth service with `harald service`, or name its socket with --service PATH"
        case .refused(let reason): "the Bluetooth service does not want this tool: \(reason)"
        case .ended(let reason): "the Bluetooth service has ended: \(reason)"
        case .lost(let error): "the Bluetooth service was there, and is gone: \(error)"
        }
    }
}

extension MessageLineError {
    /// Where nobody answers, without what to do: that is said once for all places.
    fileprivate var place: String {
        if case .unreachable(let path, let reason) = self { "nobody answers at \(path): \(reason)" } else { "\(self)" }
    }
}

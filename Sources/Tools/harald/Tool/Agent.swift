import BluetoothTypes
import SMP
import Security
import ServiceMessages

/// Shows a service's prompts to the user at the terminal, one at a time. Lives on the loop.
final class Agent {
    /// The maximum number of queued questions. The service has no more at a time (AB-G05).
    static let maximumWaiting = 64

    private let prompter: TerminalPrompter
    private let say: (String) -> Void
    private let sendAnswer: (UInt32, PersonAnswer) -> Void
    /// The queued questions. The first is on the screen.
    private var questions: [(number: UInt32, question: PersonQuestion)] = []

    /// - Parameter sendAnswer: Sends the user's answer to the question with this number to the service.
    init(
        _ prompter: TerminalPrompter,
        say: @escaping (String) -> Void = Console.line,
        sendAnswer: @escaping (UInt32, PersonAnswer) -> Void
    ) {
        self.prompter = prompter
        self.say = say
        self.sendAnswer = sendAnswer
    }

    func asked(_ number: UInt32, _ question: PersonQuestion) {
        if case .notice(let text) = question { return say("[ \(text.visible) ]") }
        if case .pairing(let pairing) = question, case .showPasskey = pairing.kind {
            return prompter.prompt(pairing.prompt, peer: pairing.peer(number), asking: pairing.origin.asking) { _ in }
        }
        guard questions.count < Self.maximumWaiting else { return sendAnswer(number, question.no) }
        questions.append((number, question))
        if questions.count == 1 { show() }
    }

    func closed(_ number: UInt32) {
        guard let index = questions.firstIndex(where: { $0.number == number }) else { return }
        let (_, question) = questions.remove(at: index)
        guard index == 0 else { return }
        if case .pairing(let pairing) = question {
            prompter.closePrompt(pairing.peer(number))
        } else {
            prompter.closePermission()
        }
        show()
    }

    private func show() {
        guard let (number, question) = questions.first else { return }
        switch question {
        case .pairing(let pairing):
            if pairing.isInBackground { say("[ for an app in the background: ]") }
            let asking = pairing.origin.asking
            prompter.prompt(pairing.prompt, peer: pairing.peer(number), asking: asking) { [weak self] answer in
                if let answer = PersonAnswer(answer) { self?.answered(number, answer) }
            }
        case .permission(let question):
            prompter.askPermission(question) { [weak self] isAllowed in
                self?.answered(number, isAllowed ? .allow : .deny)
            }
        case .accessory(let question):
            prompter.ask(question) { [weak self] in self?.answered(number, $0) }
        case .notice: break
        }
    }

    private func answered(_ number: UInt32, _ answer: PersonAnswer) {
        guard questions.first?.number == number else { return }
        questions.removeFirst()
        sendAnswer(number, answer)
        show()
    }
}

extension PersonQuestion {
    /// The answer when the question cannot be shown.
    fileprivate var no: PersonAnswer {
        if case .permission = self { .deny } else { .refuse }
    }
}

extension PersonAnswer {
    /// Returns nil while nothing is decided yet.
    fileprivate init?(_ answer: PairingAnswer) {
        switch answer {
        case .accept: self = .accept
        case .refuse: self = .refuse
        case .passkey(let passkey): self = .passkey(passkey)
        case .typing: return nil
        }
    }
}

extension PairingQuestion {
    fileprivate var prompt: PairingPrompt {
        switch kind {
        case .confirm: .confirmPairing
        case .confirmReplacement: .confirmReplacement
        case .showPasskey(let passkey): .showPasskey(passkey)
        case .enterPasskey: .enterPasskey
        case .enterPasskeyOnBoth: .enterPasskeyOnBoth
        case .compare(let number): .compare(number)
        }
    }

    /// The peer to show to the user. The question's number stands in for the link.
    fileprivate func peer(_ number: UInt32) -> PromptedPeer {
        PromptedPeer(
            link: UInt64(number),
            address: BluetoothAddress(peerAddress, kind: .publicDevice) ?? BluetoothAddress(0, kind: .publicDevice),
            name: peerName
        )
    }
}

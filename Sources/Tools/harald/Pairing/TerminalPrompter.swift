import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import SMP
import Security
import ServiceMessages

/// Prompts the user at the terminal while devices pair, or answers with the prepared answer from the command line.
/// Without an answer, the answer is no. Lives on the loop.
final class TerminalPrompter: PairingPrompter {
    /// An answer given in advance.
    enum Prepared: Hashable, Sendable {
        case yes
        case no
        case passkey(UInt32)

        /// Parses `yes`, `no` or six digits. Returns nil for any other text.
        init?(_ text: String) {
            switch text.lowercased() {
            // Full words only: when the start of a line typed too early is discarded, the rest must not count as a yes.
            case "yes": self = .yes
            case "no": self = .no
            default:
                guard let passkey = sixDigits(in: text) else { return nil }
                self = .passkey(passkey)
            }
        }
    }

    private let loop: any EventLoop
    private let prepared: Prepared?
    private let keyboard: any Keyboard
    private let say: (String) -> Void
    /// The remedy for a prompt in the background of the terminal.
    private let remedy: String
    private let onEnd: () -> Void
    private var lines = TypedLines()
    private var wrongAnswers = 0
    private var open: Open?
    private var isReading = false
    private var isAtEnd = false

    /// A prompt that has not been answered.
    private struct Open {
        /// Whether the answer is a code, or no.
        let expectsCode: Bool
        /// The link that is being paired; nil for an app's permission.
        let link: UInt64?
        let decide: (Prepared) -> Void
    }

    /// The number of invalid lines after which the answer is no, in case a program is typing.
    static let maximumWrongAnswers = 20

    /// - Parameters:
    ///   - prepared: The answer to every prompt; nil to ask the user.
    ///   - onEnd: Called when the input has ended, on the loop.
    init(
        loop: any EventLoop,
        prepared: Prepared?,
        keyboard: any Keyboard = StandardInput(),
        say: @escaping (String) -> Void = Console.line,
        remedy: String = "answer in advance with --answer, or bring it to the foreground with fg",
        onEnd: @escaping () -> Void = {}
    ) {
        self.loop = loop
        self.prepared = prepared
        self.keyboard = keyboard
        self.say = say
        self.remedy = remedy
        self.onEnd = onEnd
    }

    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        self.prompt(prompt, peer: peer, asking: peer.cause == .app ? "this program asks" : nil, answer: answer)
    }

    /// - Parameter asking: The apps that need the pairing, with their verb; nil if the peer began (AB-S16).
    func prompt(
        _ prompt: PairingPrompt,
        peer: PromptedPeer,
        asking: String?,
        answer: @escaping (PairingAnswer) -> Void
    ) {
        // The peer chooses its own name, so the name does not identify it.
        let who = peer.name.map { "\($0.quotedName) (\(peer.address))" } ?? "\(peer.address)"
        let origin = asking.map { "pair with \(who), as \($0)" } ?? "\(who) wants to pair"
        let text = "\(origin): \(Self.question(of: prompt))"
        guard prompt.needsAnswer else { return say("[ \(text) ]") }
        ask([text], Open(expectsCode: prompt.expectsCode, link: peer.link) { answer(prompt.answer(to: $0)) })
    }

    /// - Parameter shown: The lines to show, the question last.
    private func ask(_ shown: [String], _ asked: Open) {
        guard prepared != nil || keyboard.isAttended else { return asked.decide(.no) }
        // Discards earlier input before the question appears, so that input in response to it is not lost.
        if prepared == nil { perform(lines.handle(.opened)) }
        for line in shown { say("[ \(line) ]") }
        if prepared == nil, keyboard.isInBackground {
            say("[ declined, because this program runs in the background of its terminal; \(remedy) ]")
            return asked.decide(.no)
        }
        open = asked
        wrongAnswers = 0
        if let prepared { return decide(prepared) }
        isAtEnd ? decide(.no) : read()
    }

    func closePrompt(_ peer: PromptedPeer) {
        guard let open, open.link == peer.link else { return }
        close()
    }

    private func close() {
        open = nil
        perform(lines.handle(.closed))
        say("[ an answer is no longer needed ]")
    }

    private static func question(of prompt: PairingPrompt) -> String {
        switch prompt {
        case .confirmPairing: "yes or no? its identity cannot be verified"
        case .confirmReplacement: "it has lost its keys, or is another device; pair again? yes or no"
        case .showPasskey(let passkey): "enter the code \(digits(passkey)) on it"
        case .enterPasskey: "which code does it show? if it asks for one instead, answer no"
        case .enterPasskeyOnBoth:
            "make up six digits that no device shows; enter them here and on it; if it shows a code, answer no"
        case .compare(let number): "does it show \(digits(number)) too? yes or no"
        }
    }

    private func decide(_ answer: Prepared) {
        guard let asked = open else { return }
        open = nil
        perform(lines.handle(.closed))
        asked.decide(answer)
    }

    // MARK: Terminal

    /// Reads on a separate thread until the program ends. The thread waits until the loop has processed each chunk.
    func read() {
        guard !isReading else { return }
        isReading = true
        let (prompter, keyboard) = (LoopBound(self, loop: loop), keyboard)
        Thread.detachNewThread {
            while let octets = keyboard.read() { prompter.with { $0.typed(octets) } }
            prompter.with { $0.ended() }
        }
    }

    func typed(_ octets: [UInt8]) {
        perform(lines.handle(.typed(octets)))
    }

    private func perform(_ actions: [TypedLines.Action]) {
        for action in actions {
            switch action {
            case .discardPending: if !keyboard.isInBackground { keyboard.discardPending() }
            case .answer(let line): answered(line)
            }
        }
    }

    private func answered(_ line: String) {
        guard let expectsCode = open?.expectsCode else { return }
        let answer = Prepared(line.trimmingCharacters(in: .whitespaces))
        if let answer, !expectsCode || answer != .yes { return decide(answer) }
        wrongAnswers += 1
        guard wrongAnswers < Self.maximumWrongAnswers else { return decide(.no) }
        say("[ \(expectsCode ? "six digits, or no" : "yes or no") ]")
    }

    private func ended() {
        isAtEnd = true
        decide(.no)
        onEnd()
    }
}

extension TerminalPrompter: PermissionPrompter {
    /// Shows the facts first, then the app's own text, marked as such, and the question last, so that no text supplied
    /// by an app appears below it.
    func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
        let name = question.identifier.quotedName
        let program = question.executable.map { "runs \($0.quotedText)" } ?? "runs an unknown program"
        let words = [("its name", question.displayName), ("its reason", question.usage)].compactMap { what, text in
            text.map { "\(what), in its own words: \($0.quotedText)" }
        }
        ask(
            ["app \(name) of user \(question.owner) \(program)"] + words + ["may \(name) use Bluetooth? yes or no"],
            Open(expectsCode: false, link: nil) { answer($0 == .yes) }
        )
    }

    func closePermission() {
        if let open, open.link == nil { close() }
    }
}

extension PairingPrompt {
    fileprivate func answer(to prepared: TerminalPrompter.Prepared) -> PairingAnswer {
        switch (self, prepared) {
        case (.enterPasskey, .passkey(let passkey)), (.enterPasskeyOnBoth, .passkey(let passkey)): .passkey(passkey)
        case (.confirmPairing, .yes), (.confirmReplacement, .yes), (.compare, .yes): .accept
        // Entering the displayed code counts as confirming it.
        case (.compare(let number), .passkey(let passkey)) where number == passkey: .accept
        default: .refuse
        }
    }

    fileprivate var expectsCode: Bool {
        switch self {
        case .enterPasskey, .enterPasskeyOnBoth: true
        case .confirmPairing, .confirmReplacement, .showPasskey, .compare: false
        }
    }

    /// Whether the prompt asks a question, rather than only showing a code.
    fileprivate var needsAnswer: Bool {
        if case .showPasskey = self { false } else { true }
    }
}

private func digits(_ passkey: UInt32) -> String {
    String(format: "%06u", passkey)
}

/// Parses six digits, with any spaces between them. Returns nil for any other text.
private func sixDigits(in text: String) -> UInt32? {
    let found = text.filter { $0 != " " }
    guard found.utf8.count == 6, found.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(found)
}

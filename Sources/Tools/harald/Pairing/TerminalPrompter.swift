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
        /// The number of an accessory in a list, or its name.
        case text(String)

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
        /// Whether a text is an answer as well.
        var expectsText: ((String) -> Bool)?
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
        let line = line.trimmingCharacters(in: .whitespaces)
        if let expectsText = open?.expectsText, line.lowercased() != "no" {
            guard !expectsText(line) else { return decide(.text(line)) }
            return answeredWrongly("one of the numbers, or no")
        }
        let answer = Prepared(line)
        if let answer, !expectsCode || answer != .yes { return decide(answer) }
        answeredWrongly(expectsCode ? "six digits, or no" : "yes or no")
    }

    private func answeredWrongly(_ expected: String) {
        wrongAnswers += 1
        guard wrongAnswers < Self.maximumWrongAnswers else { return decide(.no) }
        say("[ \(expected) ]")
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

    /// Shows a view of AccessorySetupKit: the app, then the accessories with their numbers, then the question.
    func ask(_ question: AccessoryQuestion, answer: @escaping (PersonAnswer) -> Void) {
        let (app, offers) = (question.app.label, question.offers)
        let lines = offers.enumerated().map { "\($0 + 1): \($1.line)" }
        switch question.kind {
        case .pick where offers.isEmpty: say("[ \(app) looks for accessories ]")
        case .pick:
            let isNumber: (String) -> Bool = { Int($0).map { offers.indices.contains($0 - 1) } ?? false }
            ask(
                lines + ["set up which one for \(app)? its number, or no"],
                Open(expectsCode: false, expectsText: isNumber, link: nil) { prepared in
                    switch prepared {
                    case .text(let text): answer(.choose(offers[(Int(text) ?? 1) - 1].identifier))
                    case .yes: answer(.choose(offers[0].identifier))
                    case .no, .passkey: answer(.refuse)
                    }
                }
            )
        case .rename:
            ask(
                lines + ["which name, for \(app)? or no"],
                Open(expectsCode: false, expectsText: { !$0.isEmpty }, link: nil) {
                    if case .text(let text) = $0 { answer(.name(text)) } else { answer(.refuse) }
                }
            )
        case .migrate, .update:
            let what = question.kind == .migrate ? "manage these accessories" : "use more of this accessory"
            ask(
                lines + ["may \(app) \(what)? yes or no"],
                Open(expectsCode: false, link: nil) { answer($0 == .yes ? .accept : .refuse) }
            )
        }
    }

    func closePermission() {
        if let open, open.link == nil { close() }
    }
}

extension AppQuestion {
    /// The app for the user, with the name that it has chosen in quotes.
    fileprivate var label: String { "\((displayName ?? identifier).quotedName) of user \(owner)" }
}

extension AccessoryQuestion.Offer {
    fileprivate var line: String {
        let seen = advertisedName.map { ", which calls itself \($0.quotedName)" } ?? ""
        let picture = image.isEmpty ? "" : ", shown as the image \(image.quotedName)"
        return "\(name.quotedName)\(seen)\(picture)\(isShared ? ", which another app uses too" : "")"
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

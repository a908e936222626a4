import EventLoops
import Foundation
import GAP
import SMP

/// Asks the person at the terminal while devices pair, or answers as it was told on the command line. What is not
/// answered is no. Lives on the loop.
final class TerminalPrompter: PairingPrompter {
    /// An answer that was given before there was a question.
    enum Prepared: Hashable, Sendable {
        case yes
        case no
        case passkey(UInt32)

        /// Reads `yes`, `no` or six digits; nil for anything else.
        init?(_ text: String) {
            switch text.lowercased() {
            case "yes", "y": self = .yes
            case "no", "n", "": self = .no
            default:
                guard let passkey = sixDigits(in: text) else { return nil }
                self = .passkey(passkey)
            }
        }
    }

    private let loop: any EventLoop
    private let prepared: Prepared?
    private var open: (prompt: PairingPrompt, link: UInt64, answer: (PairingAnswer) -> Void)?
    private var isReading = false
    private var isAtEnd = false

    /// - Parameter prepared: The answer to every question; nil to ask the person.
    init(loop: any EventLoop, prepared: Prepared?) {
        self.loop = loop
        self.prepared = prepared
    }

    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        let who = peer.name.map { "\"\($0)\"" } ?? "\(peer.address)"
        Console.line("[ \(Self.text(of: prompt, who: who)) ]")
        if case .showPasskey = prompt { return }
        open = (prompt, peer.link, answer)
        if let prepared { return decide(prepared) }
        isAtEnd ? decide(.no) : read()
    }

    func closePrompt(_ peer: PromptedPeer) {
        guard open?.link == peer.link else { return }
        open = nil
        Console.line("[ no answer is needed any more ]")
    }

    private static func text(of prompt: PairingPrompt, who: String) -> String {
        switch prompt {
        case .confirmPairing: "pair with \(who)? yes or no; nothing shows who it really is"
        case .confirmReplacement: "\(who) has lost its keys, or is somebody else; pair anew? yes or no"
        case .showPasskey(let passkey): "enter the code \(digits(passkey)) on \(who)"
        case .enterPasskey: "which code does \(who) show?"
        case .compare(let number): "does \(who) show \(digits(number)) too? yes or no"
        }
    }

    private func decide(_ answer: Prepared) {
        guard let (prompt, _, tell) = open else { return }
        open = nil
        switch (prompt, answer) {
        case (.enterPasskey, .passkey(let passkey)): tell(.passkey(passkey))
        case (.confirmPairing, .yes), (.confirmReplacement, .yes), (.compare, .yes): tell(.accept)
        // A code in place of a yes says as much when it is the one that is shown.
        case (.compare(let number), .passkey(let passkey)) where number == passkey: tell(.accept)
        default: tell(.refuse)
        }
    }

    // MARK: The terminal

    /// Reads lines on a thread of their own, as long as the program runs.
    private func read() {
        guard !isReading else { return }
        isReading = true
        let prompter = LoopBound(self, loop: loop)
        Thread.detachNewThread {
            while let line = readLine() { prompter.loop.submit { prompter.value.typed(line) } }
            prompter.loop.submit { prompter.value.ended() }
        }
    }

    private func typed(_ line: String) {
        guard let prompt = open?.prompt else { return }
        let text = line.trimmingCharacters(in: .whitespaces)
        guard let answer = Prepared(text), prompt != .enterPasskey || answer != .yes else {
            return Console.line("[ \(prompt == .enterPasskey ? "six digits, or no" : "yes or no") ]")
        }
        decide(answer)
    }

    private func ended() {
        isAtEnd = true
        decide(.no)
    }
}

/// A passkey with all of its six digits.
private func digits(_ passkey: UInt32) -> String {
    let text = String(passkey)
    return String(repeating: "0", count: max(6 - text.count, 0)) + text
}

/// Six digits, with or without a space in the middle; nil for anything else.
private func sixDigits(in text: String) -> UInt32? {
    let found = text.filter { $0 != " " }
    guard found.utf8.count == 6, found.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(found)
}

import SMP

/// The prompts of all links of a device, of which one is open while the others wait (Core Vol 3 Part H 2.3.5).
///
/// A link has at most one prompt; a new one replaces the previous one. Answers to a prompt that is not open are
/// ignored.
struct PromptQueue {
    /// The maximum number of waiting prompts. More peers than that at once are not users pairing their devices.
    static let maximumWaiting = 8

    /// A prompt of a link.
    struct Entry: Hashable {
        var link: UInt64
        var prompt: PairingPrompt
        /// Distinguishes successive prompts of one link.
        var ticket: UInt64
    }

    enum Event {
        /// A link has a new prompt.
        case ask(Entry)
        /// The link's prompt is over.
        case close(link: UInt64)
        case answered(ticket: UInt64, PairingAnswer)
        /// The prompter is gone.
        case prompterLeft
    }

    enum Action: Hashable {
        case open(Entry)
        /// Close the link's prompt, which is no longer needed.
        case close(link: UInt64)
        /// Pass the answer to the link.
        case answer(Entry, PairingAnswer)
    }

    private var current: Entry?
    private var waiting: [Entry] = []

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .ask(let entry): return ask(entry)
        case .close(let link): return close(link)
        case .answered(let ticket, let answer): return answered(ticket, answer)
        case .prompterLeft:
            let all = [current].compactMap(\.self) + waiting
            current = nil
            waiting = []
            return all.map { .answer($0, .refuse) }
        }
    }

    private mutating func ask(_ entry: Entry) -> [Action] {
        var actions: [Action] = []
        waiting.removeAll { $0.link == entry.link }
        if let open = current, open.link == entry.link {
            actions.append(.close(link: open.link))
            current = nil
        }
        guard current != nil else {
            current = entry
            return actions + [.open(entry)]
        }
        guard waiting.count < Self.maximumWaiting else { return [.answer(entry, .refuse)] }
        waiting.append(entry)
        return actions
    }

    private mutating func close(_ link: UInt64) -> [Action] {
        waiting.removeAll { $0.link == link }
        guard let open = current, open.link == link else { return [] }
        current = nil
        return [.close(link: link)] + next()
    }

    private mutating func answered(_ ticket: UInt64, _ answer: PairingAnswer) -> [Action] {
        guard let open = current, open.ticket == ticket else { return [] }
        // The user is still typing and has not decided.
        if case .typing = answer { return [.answer(open, answer)] }
        // A displayed passkey stays open until the pairing advances.
        if case .showPasskey = open.prompt, answer != .refuse { return [] }
        current = nil
        return [.answer(open, answer)] + next()
    }

    private mutating func next() -> [Action] {
        guard !waiting.isEmpty else { return [] }
        let entry = waiting.removeFirst()
        current = entry
        return [.open(entry)]
    }
}

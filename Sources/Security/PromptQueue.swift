import SMP

/// The prompts of all links of a device: one is open, the others wait for it (Core Vol 3 Part H 2.3.5).
///
/// A link has one prompt at a time; a later one takes the place of the one before. Answers to what is no longer open go
/// nowhere.
struct PromptQueue {
    /// Prompts that may wait. More peers than that at once are no people pairing their devices.
    static let maximumWaiting = 8

    /// A prompt of a link.
    struct Entry: Hashable {
        var link: UInt64
        var prompt: PairingPrompt
        /// Tells prompts of one link apart.
        var ticket: UInt64
    }

    enum Event {
        /// A link asks or shows something.
        case ask(Entry)
        /// Whatever the link asks is over.
        case close(link: UInt64)
        case answered(ticket: UInt64, PairingAnswer)
        /// There is nobody to ask any more.
        case prompterLeft
    }

    enum Action: Hashable {
        case open(Entry)
        /// The prompt need not be shown any longer.
        case close(link: UInt64)
        /// The link gets its answer.
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
        // Who types has not decided yet.
        if case .typing = answer { return [.answer(open, answer)] }
        // What is shown stays until the pairing goes on.
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

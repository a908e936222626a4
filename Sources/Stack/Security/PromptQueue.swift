import SMP

/// The prompts of all links of a device, of which one is open while the others wait (Core Vol 3 Part H 2.3.5).
///
/// Prompts are ordered by ``PairingCause``, and by arrival among equals. One that goes before the open prompt replaces
/// it at once: a stranger cannot hold the screen while an app of this device needs it (AB-S16). The replaced prompt
/// waits in front of its equals, and its pairing ends as any other that is not answered: by the time-out of its
/// exchange, `PairingMachine.timeout`.
///
/// A link has at most one prompt; a new one replaces the previous one. Answers to a prompt that is not open are
/// ignored.
struct PromptQueue {
    /// The maximum number of waiting prompts. More peers than that at once are not users pairing their devices. The
    /// last one in the order is refused.
    static let maximumWaiting = 8

    /// A prompt of a link.
    struct Entry: Hashable {
        var link: UInt64
        var prompt: PairingPrompt
        /// Distinguishes successive prompts of one link.
        var ticket: UInt64
        var cause: PairingCause
    }

    enum Event: Hashable {
        case ask(Entry)
        /// The pairing of a link that has a prompt has another cause, too. The prompt does not go back in the order.
        case caused(link: UInt64, PairingCause)
        case close(link: UInt64)
        case answered(ticket: UInt64, PairingAnswer)
        case prompterRemoved
    }

    enum Action: Hashable {
        case open(Entry)
        /// Close the link's prompt, which is no longer needed, or has been replaced.
        case close(link: UInt64)
        case answer(Entry, PairingAnswer)
    }

    /// The prompts in their order. The first one is open.
    private var entries: [Entry] = []

    mutating func handle(_ event: Event) -> [Action] {
        let shown = entries.first
        switch event {
        case .ask(let entry):
            entries.removeAll { $0.link == entry.link }
            insert(entry, inFront: shown?.link == entry.link)
            let refused = entries.count > 1 + Self.maximumWaiting ? [entries.removeLast()] : []
            return show(after: shown) + refused.map { .answer($0, .refuse) }
        case .caused(let link, let cause):
            guard let index = entries.firstIndex(where: { $0.link == link }), entries[index].cause < cause else {
                return []
            }
            var entry = entries.remove(at: index)
            entry.cause = cause
            insert(entry, inFront: index == 0)
            return show(after: shown)
        case .close(let link):
            entries.removeAll { $0.link == link }
            return show(after: shown)
        case .answered(let ticket, let answer): return answered(ticket, answer)
        case .prompterRemoved:
            defer { entries = [] }
            return entries.map { .answer($0, .refuse) }
        }
    }

    /// Inserts a prompt behind its equals, or in front of them.
    private mutating func insert(_ entry: Entry, inFront: Bool) {
        let index = entries.firstIndex { inFront ? $0.cause <= entry.cause : $0.cause < entry.cause }
        entries.insert(entry, at: index ?? entries.endIndex)
    }

    /// Opens the first prompt unless it is the one that is shown.
    private func show(after shown: Entry?) -> [Action] {
        guard entries.first?.ticket != shown?.ticket else { return [] }
        return [shown.map { .close(link: $0.link) }, entries.first.map { .open($0) }].compactMap(\.self)
    }

    private mutating func answered(_ ticket: UInt64, _ answer: PairingAnswer) -> [Action] {
        guard let open = entries.first, open.ticket == ticket else { return [] }
        // The user is still typing and has not decided.
        if case .typing = answer { return [.answer(open, answer)] }
        // A displayed passkey stays open until the pairing advances.
        if case .showPasskey = open.prompt, answer != .refuse { return [] }
        entries.removeFirst()
        return [.answer(open, answer)] + show(after: nil)
    }
}

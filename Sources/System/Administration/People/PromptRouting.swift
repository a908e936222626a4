import ServiceMessages

/// Assigns prompts to prompters. The newest prompter gets a prompt, and the next one gets it if that one leaves. If
/// there is none, the prompt is decided without one. Performs no I/O.
struct PromptRouting {
    /// The maximum number of concurrent prompters (AB-G05).
    static let maximumPrompters = 16
    /// The maximum number of open prompts (AB-G05).
    static let maximumQuestions = 64

    enum Event: Equatable {
        case prompterAdded(UInt64)
        case prompterRemoved(UInt64)
        /// A new prompt. If `waits` is true, it is kept until there is a prompter.
        case asked(UInt64, waits: Bool)
        /// A prompter has answered what it was shown under this number.
        case answered(UInt32, by: UInt64)
        /// The prompt no longer needs an answer.
        case over(UInt64)
    }

    enum Action: Equatable {
        /// Shows a prompt under a number of its own. An answer counts for a single showing only.
        case show(UInt64, number: UInt32, at: UInt64)
        case close(number: UInt32, at: UInt64)
        /// Decides without a prompter, because there is none.
        case decide(UInt64)
        /// Accepts the answer as final.
        case settle(UInt64)
    }

    private enum Place: Equatable {
        case waiting
        case shown(number: UInt32, at: UInt64)
    }

    private struct Open {
        let question: UInt64
        let waits: Bool
        var place: Place
    }

    /// In the order of arrival.
    private(set) var prompters: [UInt64] = []
    private var open: [Open] = []
    private var lastNumber: UInt32 = 0

    var count: Int { open.count }

    /// Returns the prompt that a prompter was shown under this number.
    func question(_ number: UInt32, at prompter: UInt64) -> UInt64? {
        open.first { $0.place == .shown(number: number, at: prompter) }?.question
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .prompterAdded(let prompter): return add(prompter)
        case .prompterRemoved(let prompter): return left(prompter)
        case .asked(let question, let waits): return asked(question, waits)
        case .answered(let number, let prompter):
            guard let question = question(number, at: prompter) else { return [] }
            open.removeAll { $0.question == question }
            return [.settle(question)]
        case .over(let question):
            guard let index = open.firstIndex(where: { $0.question == question }) else { return [] }
            guard case .shown(let number, let prompter) = open.remove(at: index).place else { return [] }
            return [.close(number: number, at: prompter)]
        }
    }

    /// Offers queued prompts to the new prompter. Prompts already on screen elsewhere stay there.
    private mutating func add(_ prompter: UInt64) -> [Action] {
        guard prompters.count < Self.maximumPrompters else { return [] }
        prompters.append(prompter)
        return open.indices.filter { open[$0].place == .waiting }.map { show($0, at: prompter) }
    }

    private mutating func left(_ prompter: UInt64) -> [Action] {
        prompters.removeAll { $0 == prompter }
        var (actions, undecided): ([Action], [UInt64]) = ([], [])
        for index in open.indices {
            guard case .shown(_, prompter) = open[index].place else { continue }
            if let next = prompters.last {
                actions.append(show(index, at: next))
            } else {
                open[index].place = .waiting
                if !open[index].waits { undecided.append(open[index].question) }
            }
        }
        open.removeAll { undecided.contains($0.question) }
        return actions + undecided.map { .decide($0) }
    }

    private mutating func asked(_ question: UInt64, _ waits: Bool) -> [Action] {
        guard open.count < Self.maximumQuestions, waits || !prompters.isEmpty else { return [.decide(question)] }
        open.append(Open(question: question, waits: waits, place: .waiting))
        return prompters.last.map { [show(open.count - 1, at: $0)] } ?? []
    }

    private mutating func show(_ index: Int, at prompter: UInt64) -> Action {
        lastNumber &+= 1
        open[index].place = .shown(number: lastNumber, at: prompter)
        return .show(open[index].question, number: lastNumber, at: prompter)
    }
}

import SMP
import StateExplorer
import Testing

@testable import Security

/// Which prompt is on the screen, whatever has caused the pairings and whatever becomes of them (AB-S16).
@Suite struct PromptOrderTests {
    /// The end of a prompt.
    enum End: CaseIterable {
        case answer
        case refusal
        case timeout
        case linkLost
        case appCancels
    }

    /// A situation in which a pairing needs a prompt.
    struct Situation: CustomTestStringConvertible {
        /// The cause of the pairing.
        let cause: PairingCause
        /// The cause of the prompt on the screen; nil if there is none.
        let shown: PairingCause?

        static let all = PairingCause.allCases.flatMap { cause in
            ([nil] + PairingCause.allCases).map { Situation(cause: cause, shown: $0) }
        }

        var testDescription: String { "\(cause), with \(shown.map { "\($0)" } ?? "nothing") on the screen" }
    }

    private static func entry(_ link: Int, _ cause: PairingCause) -> PromptQueue.Entry {
        PromptQueue.Entry(link: UInt64(link), prompt: .confirmPairing, ticket: UInt64(link), cause: cause)
    }

    private static func event(_ end: End, _ entry: PromptQueue.Entry) -> PromptQueue.Event {
        switch end {
        case .answer: .answered(ticket: entry.ticket, .accept)
        case .refusal: .answered(ticket: entry.ticket, .refuse)
        // The pairing ends, and closes its prompt.
        case .timeout, .linkLost, .appCancels: .close(link: entry.link)
        }
    }

    /// Any number of strangers wait, and one prompt after the other ends. The expected order is that of the causes,
    /// then that of arrival, with the replaced prompt first among its equals.
    @Test(
        "AB-S16: the prompt of the highest cause is on the screen at once, and the replaced one returns",
        arguments: Situation.all
    )
    func theHighestCauseIsShown(situation: Situation) {
        for strangers in 0...(situation.shown == nil ? 0 : PromptQueue.maximumWaiting) {
            for end in End.allCases {
                var queue = PromptQueue()
                var expected = situation.shown.map { [Self.entry(100, $0)] } ?? []
                expected += (0..<strangers).map { Self.entry($0, .stranger) }
                for entry in expected { _ = queue.handle(.ask(entry)) }
                let (new, before) = (Self.entry(200, situation.cause), expected.first)
                expected.insert(new, at: expected.firstIndex { $0.cause < new.cause } ?? expected.endIndex)
                var actions: [PromptQueue.Action] = []
                if expected.first == new {
                    if let before { actions.append(.close(link: before.link)) }
                    actions.append(.open(new))
                }
                // A full queue has no place for the last stranger, and always one for an app.
                if expected.count > 1 + PromptQueue.maximumWaiting {
                    actions.append(.answer(expected.removeLast(), .refuse))
                }
                #expect(queue.handle(.ask(new)) == actions, "\(strangers) strangers")
                checkEnds(of: expected, end, &queue)
            }
        }
    }

    private func checkEnds(of expected: [PromptQueue.Entry], _ end: End, _ queue: inout PromptQueue) {
        var rest = expected
        while let open = rest.first {
            rest.removeFirst()
            var actions = rest.first.map { [PromptQueue.Action.open($0)] } ?? []
            switch end {
            case .answer: actions.insert(.answer(open, .accept), at: 0)
            case .refusal: actions.insert(.answer(open, .refuse), at: 0)
            case .timeout, .linkLost, .appCancels: actions.insert(.close(link: open.link), at: 0)
            }
            #expect(queue.handle(Self.event(end, open)) == actions)
        }
        #expect(queue.handle(.prompterRemoved) == [])
    }

    @Test("AB-S16: a pairing that an app comes to need moves forward, and is not shown anew if it is on the screen")
    func aStrangerWithAnApp() {
        var queue = PromptQueue()
        for link in 1...3 { _ = queue.handle(.ask(Self.entry(link, .stranger))) }
        #expect(queue.handle(.caused(link: 3, .stranger)) == [])
        #expect(queue.handle(.caused(link: 9, .app)) == [])
        #expect(queue.handle(.caused(link: 3, .app)) == [.close(link: 1), .open(Self.entry(3, .app))])
        // Neither does a lower cause take the place back.
        #expect(queue.handle(.caused(link: 3, .known)) == [])
        #expect(queue.handle(.caused(link: 1, .app)) == [])
        #expect(queue.handle(.close(link: 3)) == [.close(link: 3), .open(Self.entry(1, .app))])
        #expect(queue.handle(.caused(link: 1, .app)) == [])
    }

    // MARK: Every order of events

    /// Two apps, a known peer and two strangers, whose pairings ask, end and are answered in every order.
    struct Desk: Explorable {
        static let causes: [PairingCause] = [.app, .app, .known, .stranger, .stranger]
        static var isValue: Bool { true }

        enum Move: Hashable {
            case ask(Int)
            case appComes(Int)
            case close(Int)
            case answer
            case lateAnswer(Int)
            case prompterLeaves
        }

        private var queue = PromptQueue()
        /// The prompts that need an answer, in the order in which they may be shown.
        private var pending: [PromptQueue.Entry] = []
        private(set) var screen: PromptQueue.Entry?
        private(set) var fault: String?
        /// The number of prompts so far, for each link.
        private var asked = [0, 0, 0, 0, 0]

        var key: String { wholeDescription(self) }

        var moves: [Move] {
            var moves: [Move] = pending.isEmpty ? [] : [.answer, .prompterLeaves]
            for link in Self.causes.indices {
                if asked[link] == 0 { moves.append(.ask(link)) }
                guard let entry = pending.first(where: { $0.link == link }) else { continue }
                moves += [.close(link), .lateAnswer(link)]
                if entry.cause != .app { moves.append(.appComes(link)) }
            }
            return moves
        }

        mutating func perform(_ move: Move) {
            switch move {
            case .ask(let link):
                asked[link] += 1
                let entry = PromptOrderTests.entry(link, Self.causes[link])
                insert(entry)
                run(.ask(entry))
            case .appComes(let link):
                guard var entry = pending.first(where: { $0.link == link }) else { return }
                entry.cause = .app
                let isShown = screen?.link == UInt64(link)
                pending.removeAll { $0.link == link }
                isShown ? pending.insert(entry, at: 0) : insert(entry)
                if isShown { screen = entry }
                run(.caused(link: UInt64(link), .app))
            case .close(let link):
                pending.removeAll { $0.link == link }
                run(.close(link: UInt64(link)))
            case .answer:
                guard let open = screen else { return }
                run(.answered(ticket: open.ticket, .accept))
            case .lateAnswer(let link):
                guard screen?.link != UInt64(link) else { return }
                run(.answered(ticket: UInt64(link), .accept))
            case .prompterLeaves: run(.prompterRemoved)
            }
            if screen?.link != pending.first?.link {
                fault = "\(screen.map { "\($0.cause)" } ?? "nothing") is shown, not \(pending.map(\.cause))"
            }
        }

        private mutating func insert(_ entry: PromptQueue.Entry) {
            pending.insert(entry, at: pending.firstIndex { $0.cause < entry.cause } ?? pending.endIndex)
        }

        private mutating func run(_ event: PromptQueue.Event) {
            for action in queue.handle(event) {
                switch action {
                case .open(let entry):
                    if screen != nil { fault = "two prompts are open" }
                    screen = entry
                case .close(let link):
                    if screen?.link != link { fault = "a prompt that is not open is closed" }
                    screen = nil
                case .answer(let entry, let answer):
                    if event != .prompterRemoved, screen != entry || answer != .accept { fault = "a wrong answer" }
                    if screen?.link == entry.link { screen = nil }
                    pending.removeAll { $0.link == entry.link }
                }
            }
        }
    }

    @Test("AB-S16: in every order of events, the screen has the one prompt that goes first")
    func everyOrderOfEvents() {
        let exploration = Exploration(limit: 200_000) { Desk() }
        #expect(exploration.faults.isEmpty, "\(exploration.faults)")
        #expect(exploration.isComplete)
        print("prompts: \(exploration.summary)")
    }
}

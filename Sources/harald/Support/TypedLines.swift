/// Which line of the keyboard answers a prompt: one that was typed, from its first octet on, while that prompt was on the screen.
/// What was typed before, for another prompt or for none, must not decide what its writer has not seen.
struct TypedLines {
    /// Octets of a line; a longer one is no answer.
    static let longest = 64

    enum Event {
        /// A prompt is about to be shown.
        case opened
        /// It has its answer, or needs none any more.
        case closed
        /// What came from the keyboard.
        case typed([UInt8])
    }

    enum Action: Equatable {
        /// What has been typed and not been read is to be thrown away.
        case discardPending
        /// The prompt has this answer, right or wrong.
        case answer(String)
    }

    private enum State {
        case closed(isInLine: Bool)
        /// The octets of the line so far.
        case open([UInt8])
        /// The line began before the prompt was shown, or is too long.
        case skipping
    }

    private var state = State.closed(isInLine: false)

    mutating func handle(_ event: Event) -> [Action] {
        switch (event, state) {
        case (.opened, _):
            state = isInLine ? .skipping : .open([])
            return [.discardPending]
        case (.closed, _):
            state = .closed(isInLine: isInLine)
            return []
        case (.typed(let octets), _) where octets.isEmpty: return []
        case (.typed(let octets), .closed):
            state = .closed(isInLine: octets.last != Self.newline)
            return []
        case (.typed(let octets), .skipping):
            guard let end = octets.firstIndex(of: Self.newline) else { return [] }
            state = .open([])
            return handle(.typed(Array(octets[(end + 1)...])))
        case (.typed(let octets), .open(let line)): return typed(octets, after: line)
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private var isInLine: Bool {
        switch state {
        case .closed(let isInLine): isInLine
        case .open(let line): !line.isEmpty
        case .skipping: true
        }
    }

    private mutating func typed(_ octets: [UInt8], after line: [UInt8]) -> [Action] {
        guard let end = octets.firstIndex(of: Self.newline) else {
            state = line.count + octets.count > Self.longest ? .skipping : .open(line + octets)
            return []
        }
        // Nobody has seen yet what came of this line: the next ones are for nothing that is on the screen.
        state = octets.last == Self.newline ? .open([]) : .skipping
        let whole = line + octets[..<end]
        return [.answer(whole.count > Self.longest ? "" : String(decoding: whole, as: UTF8.self))]
    }
}

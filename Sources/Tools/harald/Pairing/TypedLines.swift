/// Decides which typed line answers a prompt: one that was typed entirely while that prompt was on the screen. A line
/// typed earlier, for another prompt or for none, must not answer a question that its author has not seen.
struct TypedLines {
    /// The maximum length of a line in octets. A longer line is no valid answer.
    static let longest = 64

    enum Event {
        /// A prompt is about to be shown.
        case opened
        /// The prompt has been answered, or is no longer needed.
        case closed
        case typed([UInt8])
    }

    enum Action: Equatable {
        case discardPending
        /// Answer the prompt with this line, valid or not.
        case answer(String)
    }

    private enum State {
        case closed(isInLine: Bool)
        /// A prompt is open. Holds the octets of the current line.
        case open([UInt8])
        /// Ignoring the rest of a line that began before the prompt was shown, or that is too long.
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
        // The result of this line is not on the screen yet, so further lines that arrived with it answer nothing.
        state = octets.last == Self.newline ? .open([]) : .skipping
        let whole = line + octets[..<end]
        return [.answer(whole.count > Self.longest ? "" : String(decoding: whole, as: UTF8.self))]
    }
}

/// A token of Swift source. Comments produce none.
struct Token: Equatable {
    enum Kind {
        /// A name or a keyword, without backticks; an attribute including its `@`; a directive including its `#`.
        case word
        /// A number, or a string with everything inside it.
        case literal
        /// A single punctuation character.
        case sign
    }

    let kind: Kind
    let text: String
    let line: Int
    /// The range of UTF-8 offsets in the source.
    let range: Range<Int>
    /// Whether this is the first token of its line.
    let isFirst: Bool

    func `is`(_ text: String) -> Bool { self.text == text && kind != .literal }
}

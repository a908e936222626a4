/// A word or a sign of a Swift source. What is in comments and in quotes is none.
struct Token: Equatable {
    enum Kind {
        /// A name or a keyword, without backticks; an attribute with its `@`, a directive with its `#`.
        case word
        /// A string, whatever is in it, or a number.
        case literal
        /// One sign.
        case sign
    }

    let kind: Kind
    let text: String
    let line: Int
    /// Where it stands among the octets of the source.
    let range: Range<Int>
    /// Whether it is the first of its line.
    let isFirst: Bool

    func `is`(_ text: String) -> Bool { self.text == text && kind != .literal }
}

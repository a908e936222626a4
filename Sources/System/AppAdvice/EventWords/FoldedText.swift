/// The texts of events that follow each other and only differ in some words, as one text: `75 to 81 bpm`.
///
/// Numbers become a range. If other words differ, the text has the first and the last event's.
struct FoldedText: Hashable, Sendable {
    private struct Word: Hashable, Sendable {
        let start: String
        let core: String
        let end: String
        let number: Double?

        /// A word without the punctuation around it. Numbers are decimal: `0048` and `2a37` are octets.
        init(_ text: Substring) {
            let start = text.prefix { "(\"[".contains($0) }
            let rest = text.dropFirst(start.count)
            let end = rest.reversed().prefix { ",;:)]%\"".contains($0) }.count
            (self.start, core, self.end) = (String(start), String(rest.dropLast(end)), String(rest.suffix(end)))
            number = Self.number(core)
        }

        private static func number(_ text: String) -> Double? {
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard let first = digits.first, first.isASCII, first.isNumber, digits.count < 16 else { return nil }
            guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
            guard first != "0" || digits == "0" || digits.hasPrefix("0.") else { return nil }
            return Double(text)
        }

        var text: String { start + core + end }

        func matches(_ other: Word) -> Bool {
            number != nil && other.number != nil ? start == other.start && end == other.end : self == other
        }
    }

    private let first: [Word]
    private var least: [Word]
    private var greatest: [Word]
    private var last: [Word]
    private var isRegular = true
    private var isVaried = false

    init(_ text: String) {
        first = Self.words(text)
        (least, greatest, last) = (first, first, first)
    }

    /// The text without its numbers.
    var pattern: String { first.map { $0.number == nil ? $0.text : $0.start + "#" + $0.end }.joined(separator: " ") }

    /// Adds the text of the next event.
    mutating func add(_ text: String) {
        let words = Self.words(text)
        guard words != last || isVaried else { return }
        isVaried = true
        last = words
        guard isRegular, words.count == first.count, zip(first, words).allSatisfy({ $0.matches($1) }) else {
            return isRegular = false
        }
        for (index, word) in words.enumerated() {
            guard let number = word.number else { continue }
            if number < least[index].number ?? number { least[index] = word }
            if number > greatest[index].number ?? number { greatest[index] = word }
        }
    }

    var text: String {
        guard isVaried else { return Self.joined(first) }
        guard isRegular else { return irregular }
        return zip(least, greatest).map { low, high in
            low == high ? low.text : "\(low.start)\(low.core) to \(high.core)\(high.end)"
        }.joined(separator: " ")
    }

    /// What the first and the last text have in common, with what they have not.
    private var irregular: String {
        let start = zip(first, last).prefix { $0 == $1 }.count
        let room = min(first.count, last.count) - start
        let end = zip(first.reversed(), last.reversed()).prefix { $0 == $1 }.prefix(room).count
        let (one, other) = (first[start..<first.count - end], last[start..<last.count - end])
        return Self.joined(first[..<start] + one + [Word("…")] + other + last[(last.count - end)...])
    }

    private static func joined(_ words: some Sequence<Word>) -> String { words.map(\.text).joined(separator: " ") }

    private static func words(_ text: String) -> [Word] {
        text.split(separator: " ", omittingEmptySubsequences: false).map(Word.init)
    }
}

/// Splits Swift source into tokens, precisely enough to tell code from comments and strings.
///
/// This is not a parser: it reaches the end of any input, in one pass and without recursion.
struct Tokenizer {
    private let octets: [UInt8]
    private var place = 0
    private var line = 1
    private var isFirst = true
    private var tokens: [Token] = []

    static func tokens(of text: String) -> [Token] {
        var tokenizer = Tokenizer(octets: Array(text.utf8))
        tokenizer.run()
        return tokenizer.tokens
    }

    private mutating func run() {
        while let octet = peek() {
            switch octet {
            case UInt8(ascii: "\n"):
                line += 1
                isFirst = true
                place += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                place += 1
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
                skipLine()
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
                skipBlockComment()
            case UInt8(ascii: "\""):
                consumeString(pounds: 0)
            case UInt8(ascii: "#"):
                consumePound()
            case UInt8(ascii: "@"):
                consumeWord(after: 1)
            case UInt8(ascii: "`"):
                consumeQuotedName()
            case _ where octet.isDigit:
                consume(.literal) { $0.isWord }
            case _ where octet.isWord:
                consumeWord(after: 0)
            default:
                consume(.sign, length: 1)
            }
        }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        place + distance < octets.count ? octets[place + distance] : nil
    }

    private mutating func consume(_ kind: Token.Kind, length: Int, line start: Int? = nil) {
        let range = place..<min(place + length, octets.count)
        add(kind, String(decoding: octets[range], as: UTF8.self), range, line: start ?? line)
        place = range.upperBound
    }

    private mutating func consume(_ kind: Token.Kind, while isPart: (UInt8) -> Bool) {
        var length = 0
        while let octet = peek(length), isPart(octet) { length += 1 }
        consume(kind, length: length)
    }

    private mutating func add(_ kind: Token.Kind, _ text: String, _ range: Range<Int>, line: Int) {
        tokens.append(Token(kind: kind, text: text, line: line, range: range, isFirst: isFirst))
        isFirst = false
    }

    /// Consumes a word whose first `start` bytes have been checked.
    private mutating func consumeWord(after start: Int) {
        var length = start
        while let octet = peek(length), octet.isWord { length += 1 }
        consume(length == start && start > 0 ? .sign : .word, length: length)
    }

    private mutating func consumeQuotedName() {
        var length = 1
        while let octet = peek(length), octet.isWord { length += 1 }
        let text = String(decoding: octets[(place + 1)..<(place + length)], as: UTF8.self)
        if peek(length) == UInt8(ascii: "`") { length += 1 }
        add(.word, text, place..<(place + length), line: line)
        place += length
    }

    /// Consumes a directive, or a string that starts with number signs.
    private mutating func consumePound() {
        var pounds = 0
        while peek(pounds) == UInt8(ascii: "#") { pounds += 1 }
        if peek(pounds) == UInt8(ascii: "\"") {
            consumeString(pounds: pounds)
        } else {
            consumeWord(after: 1)
        }
    }

    private mutating func skipLine() {
        while let octet = peek(), octet != UInt8(ascii: "\n") { place += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                depth += 1
                place += 2
            } else if peek() == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                depth -= 1
                place += 2
            } else {
                if peek() == UInt8(ascii: "\n") { line += 1 }
                place += 1
            }
        } while depth > 0 && place < octets.count
    }

    private mutating func consumeString(pounds: Int) {
        let start = line
        let end = StringEnd(octets: octets, place: place, pounds: pounds).end
        line += octets[place..<end].count { $0 == UInt8(ascii: "\n") }
        consume(.literal, length: end - place, line: start)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether this is a letter, a digit, an underscore or non-ASCII.
    fileprivate var isWord: Bool {
        isDigit || self == UInt8(ascii: "_") || self >= 0x80
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

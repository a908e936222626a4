/// Splits a line into words as sh does, as far as that concerns words: single and double quotes, backslashes, and
/// comments. Nothing is expanded.
struct ShellWords {
    /// A line that ends too early.
    enum Unfinished: Error, CustomStringConvertible {
        case quote(Unicode.Scalar)
        case backslash

        var description: String {
            switch self {
            case .quote(let mark): "the quotation that begins with \(mark) does not end"
            case .backslash: "the line ends with a backslash"
            }
        }
    }

    private enum State: Equatable {
        case plain
        case single
        case double
        /// After a backslash, inside of double quotes or not.
        case escaped(isDouble: Bool)
        case comment
    }

    /// The words before the current one.
    private(set) var words: [String] = []
    /// The word that has begun; nil between words.
    private(set) var current: String?
    /// The number of scalars of the current word, as they were typed.
    private(set) var typedCount = 0
    private var state = State.plain

    /// Reads the beginning of a line.
    init(_ text: String) {
        for scalar in text.unicodeScalars { read(scalar) }
    }

    var isInComment: Bool { state == .comment }

    /// Returns the words of a whole line.
    static func split(_ line: String) throws(Unfinished) -> [String] {
        let read = ShellWords(line)
        switch read.state {
        case .single: throw .quote("'")
        case .double, .escaped(isDouble: true): throw .quote("\"")
        case .escaped: throw .backslash
        case .plain, .comment: return read.words + [read.current].compactMap(\.self)
        }
    }

    /// Returns a word so that it is split into itself again. The quotation of an unfinished one does not end.
    static func quoted(_ word: String, isFinished: Bool = true) -> String {
        guard word.unicodeScalars.contains(where: isSpecial) || word.isEmpty else { return word }
        var text = "\""
        for scalar in word.unicodeScalars {
            if isEscapedInQuotes(scalar) { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return isFinished ? text + "\"" : text
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\r"].contains(scalar) }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        isBlank(scalar) || isEscapedInQuotes(scalar) || scalar == "'" || scalar == "#"
    }

    /// Whether a backslash before the scalar inside of double quotes is none of the word (POSIX.1-2017 XCU 2.2.3).
    private static func isEscapedInQuotes(_ scalar: Unicode.Scalar) -> Bool { ["\"", "\\", "$", "`"].contains(scalar) }

    private mutating func read(_ scalar: Unicode.Scalar) {
        typedCount += 1
        switch (state, scalar) {
        case (.comment, _): break
        case (.escaped(let isDouble), _):
            if isDouble, !Self.isEscapedInQuotes(scalar) { append("\\") }
            append(scalar)
            state = isDouble ? .double : .plain
        case (.single, "'"), (.double, "\""): state = .plain
        case (.double, "\\"): state = .escaped(isDouble: true)
        case (.single, _), (.double, _): append(scalar)
        case (.plain, _): readPlain(scalar)
        }
    }

    private mutating func readPlain(_ scalar: Unicode.Scalar) {
        switch scalar {
        case _ where Self.isBlank(scalar):
            if let current { words.append(current) }
            current = nil
            typedCount = 0
        case "#" where current == nil: state = .comment
        case "'": begin(.single)
        case "\"": begin(.double)
        case "\\": begin(.escaped(isDouble: false))
        default: append(scalar)
        }
    }

    private mutating func begin(_ next: State) {
        current = current ?? ""
        state = next
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        current = current ?? ""
        current?.unicodeScalars.append(scalar)
    }
}

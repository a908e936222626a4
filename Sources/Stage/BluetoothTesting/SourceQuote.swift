import Foundation
import Testing

/// The condition or the value of an expectation, quoted from the source of a test.
struct SourceQuote {
    /// The number of letters that a quote has at most.
    private static let maximumLength = 160
    /// The number of letters in which a call has to end.
    private static let maximumCall = 4_000

    let text: String

    /// Quotes the call at a place in a file of this machine. Nil if the file is not there, or has changed.
    init?(at place: SourceLocation) {
        guard let source = try? String(contentsOfFile: place.filePath, encoding: .utf8) else { return nil }
        self.init(source, line: place.line, column: place.column)
    }

    /// Quotes the call that begins in a line, at this column or before it.
    ///
    /// - Parameters:
    ///   - line: The number of the line, from 1 on.
    ///   - column: The number of the octet in the line, from 1 on.
    init?(_ source: String, line: Int, column: Int) {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return nil }
        let start = String(decoding: lines[line - 1].utf8.dropFirst(max(0, column - 1)), as: UTF8.self)
        let rest = lines[line...].prefix(60).joined(separator: "\n")
        var reader = CallReader("\(start)\n\(rest)".prefix(Self.maximumCall))
        guard let subject = reader.subject else { return nil }
        let words = subject.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !words.isEmpty else { return nil }
        text = words.count > Self.maximumLength ? "\(words.prefix(Self.maximumLength))…" : words
    }
}

/// Reads a call: the contents of its closure, or else its first argument.
private struct CallReader {
    private var rest: Substring

    init(_ text: Substring) {
        rest = text
    }

    var subject: String? {
        mutating get {
            guard let open = rest.firstIndex(where: { "({".contains($0) }) else { return nil }
            guard rest[..<open].allSatisfy({ $0.isLetter || $0.isNumber || "._ ".contains($0) }) else { return nil }
            rest = rest[open...]
            let arguments = rest.first == "(" ? enclosed() : nil
            let space = rest.prefix { $0.isWhitespace }
            rest = rest.dropFirst(space.count)
            guard rest.first == "{" else { return arguments.map(Self.firstArgument) }
            return enclosed().map(Self.withoutCaptures)
        }
    }

    /// Removes what the next bracket encloses, and returns it.
    private mutating func enclosed() -> String? {
        guard let end = Self.length(of: rest, until: { $1 == 0 }) else { return nil }
        defer { rest = rest.dropFirst(end) }
        return String(rest.prefix(end).dropFirst().dropLast())
    }

    /// Returns the number of letters up to the one that fits, and the depth of brackets behind it; strings are skipped.
    private static func length(of text: Substring, until fits: (Character, Int) -> Bool) -> Int? {
        var (depth, isString, isEscaped) = (0, false, false)
        for (count, letter) in text.enumerated() {
            if isString {
                if letter == "\"", !isEscaped { isString = false }
                isEscaped = letter == "\\" && !isEscaped
                continue
            }
            switch letter {
            case "\"": isString = true
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            if fits(letter, depth) { return count + 1 }
        }
        return nil
    }

    private static func firstArgument(_ arguments: String) -> String {
        let end = length(of: arguments[...], until: { $0 == "," && $1 == 0 }).map { $0 - 1 }
        return String(arguments.prefix(end ?? arguments.count))
    }

    private static func withoutCaptures(_ body: String) -> String {
        let text = body.drop { $0.isWhitespace }
        guard text.first == "[", let end = length(of: text, until: { $1 == 0 }) else { return body }
        let rest = text.dropFirst(end).drop { $0.isWhitespace }
        return rest.hasPrefix("in") && rest.dropFirst(2).first?.isWhitespace == true ? String(rest.dropFirst(2)) : body
    }
}

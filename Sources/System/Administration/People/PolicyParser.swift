import BluetoothTypes
import ServiceMessages

/// An error in a policy file and its location.
package struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        case tooLong(octets: Int)
        case tooManyLines
        case notText
        case unknownRule(String)
        case unknownField(String, of: String)
        case repeatedField(String)
        case missingField(String)
        case missingRuling(of: String)
        case unknownRuling(String, of: String)
        case noCode(String)
        case noUser(String)
        case tooManyPrompters
        case trailing(String)
        case openQuotation
        case danglingEscape
    }

    /// The line number, counted from 1, or 0 for the file as a whole.
    package var line: Int
    package var problem: Problem

    package var description: String {
        line == 0 ? "the policy file \(what)" : "line \(line) of the policy file \(what)"
    }

    private var what: String {
        switch problem {
        case .tooLong(let octets): "has \(octets) octets; the maximum is \(PolicyFile.maximumOctets)"
        case .tooManyLines: "has too many lines; the maximum is \(PolicyFile.maximumLines)"
        case .notText: "is not UTF-8 text"
        case .unknownRule(let word): "begins with \(word.quotedName); a rule begins with pair, app or prompters"
        case .unknownField(let word, let rule):
            "has the unknown field \(word.quotedName); \(rule) accepts \(rule == "pair" ? "app=, user= and peer=" : "name= and user=")"
        case .repeatedField(let word): "has \(word)= twice"
        case .missingField(let word): "lacks \(word)=; write \(word)=* for all"
        case .missingRuling(let rule): "has no decision; end it with \(Self.rulings(of: rule))"
        case .unknownRuling(let word, let rule):
            "has the unknown decision \(word.quotedName); end it with \(Self.rulings(of: rule))"
        case .noCode(let word): "has the invalid code \(word.quotedName); a code has six digits"
        case .noUser(let word): "has the invalid user ID \(word.quotedName)"
        case .tooManyPrompters: "names too many prompters; the maximum is \(PolicyFile.maximumPrompters)"
        case .trailing(let word): "has \(word.quotedName) after the end of the rule"
        case .openQuotation: "has an unclosed quotation mark"
        case .danglingEscape: "ends with \\, which has to be followed by the character to escape"
        }
    }

    private static func rulings(of rule: String) -> String {
        rule == "pair" ? "yes, no or code and six digits" : "yes, no or ask"
    }
}

extension PolicyFile {
    /// Parses a file. An error anywhere rejects the whole file.
    package init(parsing octets: [UInt8]) throws(PolicyError) {
        guard octets.count <= Self.maximumOctets else {
            throw PolicyError(line: 0, problem: .tooLong(octets: octets.count))
        }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw PolicyError(line: 0, problem: .notText)
        }
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count <= Self.maximumLines else { throw PolicyError(line: 0, problem: .tooManyLines) }
        for (index, line) in lines.enumerated() {
            do throws(PolicyError.Problem) {
                try add(PolicyWord.words(of: line))
            } catch {
                throw PolicyError(line: index + 1, problem: error)
            }
        }
    }

    private mutating func add(_ words: [PolicyWord]) throws(PolicyError.Problem) {
        guard let first = words.first else { return }
        let rest = words.dropFirst()
        switch first.text {
        case "pair": pairRules.append(try PairRule(rest))
        case "app": appRules.append(try AppRule(rest))
        case "prompters":
            for word in rest { prompters.insert(try word.user()) }
            guard prompters.count <= Self.maximumPrompters else { throw .tooManyPrompters }
        default: throw .unknownRule(first.text)
        }
    }
}

extension PolicyError.Problem: Error {}

extension PolicyFile.PairRule {
    fileprivate init(_ words: ArraySlice<PolicyWord>) throws(PolicyError.Problem) {
        self.init()
        var words = words
        let fields = try words.takeFields(["app", "user", "peer"], of: "pair")
        user = fields.user
        if let pattern = fields.patterns["app"] { app = pattern }
        if let pattern = fields.patterns["peer"] { peer = PolicyFile.PeerPattern(pattern) }
        guard let word = words.popFirst() else { throw .missingRuling(of: "pair") }
        switch word.text {
        case "yes": ruling = .yes
        case "no": ruling = .no
        case "code": ruling = .code(try (words.popFirst() ?? PolicyWord()).code())
        default: throw .unknownRuling(word.text, of: "pair")
        }
        if let more = words.first { throw .trailing(more.text) }
    }
}

extension PolicyFile.AppRule {
    fileprivate init(_ words: ArraySlice<PolicyWord>) throws(PolicyError.Problem) {
        self.init()
        var words = words
        let fields = try words.takeFields(["name", "user"], of: "app")
        user = fields.user
        // A rule for all apps has to be explicit.
        guard let pattern = fields.patterns["name"] else { throw .missingField("name") }
        name = pattern
        guard let word = words.popFirst() else { throw .missingRuling(of: "app") }
        switch word.text {
        case "yes": permission = .allowedAlways
        case "no": permission = .restricted
        case "ask": permission = .notDetermined
        default: throw .unknownRuling(word.text, of: "app")
        }
        if let more = words.first { throw .trailing(more.text) }
    }
}

extension ArraySlice<PolicyWord> {
    /// Removes the fields that a rule begins with.
    fileprivate mutating func takeFields(_ names: Set<String>, of rule: String) throws(PolicyError.Problem)
        -> (patterns: [String: NamePattern], user: UInt32?)
    {
        var (patterns, user): ([String: NamePattern], UInt32?) = ([:], nil)
        while let (name, pattern) = first?.field {
            guard names.contains(name) else { throw .unknownField("\(name)=", of: rule) }
            guard patterns.updateValue(pattern, forKey: name) == nil else { throw .repeatedField(name) }
            if name == "user" { user = try PolicyWord(pattern.plain ?? "*").user() }
            removeFirst()
        }
        return (patterns, user)
    }
}

extension PolicyFile.PeerPattern {
    fileprivate init(_ pattern: NamePattern) {
        let address = pattern.plain.flatMap { BluetoothAddress($0, kind: .publicDevice) }
        self = address.map { .address($0.value) } ?? .name(pattern)
    }
}

/// A word of a line: the text between spaces, without quotation marks.
private struct PolicyWord {
    var elements: [NamePattern.Element] = []
    /// The index of the first unquoted `=`.
    var equals: Int?

    init() {}

    init(_ text: String) {
        elements = text.unicodeScalars.map { .scalar($0) }
    }

    /// The text approximately as written.
    var text: String { Self.text(of: elements[...]) }

    /// The name and the value of `name=value`.
    var field: (name: String, value: NamePattern)? {
        equals.map { (Self.text(of: elements[..<$0]), NamePattern(Array(elements[($0 + 1)...]))) }
    }

    private static func text(of elements: ArraySlice<NamePattern.Element>) -> String {
        var text = String.UnicodeScalarView()
        for element in elements {
            switch element {
            case .any: text.append("*")
            case .scalar(let scalar): text.append(scalar)
            }
        }
        return String(text)
    }

    func code() throws(PolicyError.Problem) -> UInt32 {
        guard elements.count == 6, let code = number() else { throw .noCode(text) }
        return code
    }

    func user() throws(PolicyError.Problem) -> UInt32 {
        guard let user = number() else { throw .noUser(text) }
        return user
    }

    /// Digits only, without a sign.
    private func number() -> UInt32? {
        let text = text
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(text) : nil
    }

    static func words(of line: Substring.UnicodeScalarView) throws(PolicyError.Problem) -> [PolicyWord] {
        var (words, word, isQuoted, isEscaped): ([PolicyWord], PolicyWord?, Bool, Bool) = ([], nil, false, false)
        for scalar in line {
            if isEscaped {
                word?.elements.append(.scalar(scalar))
                isEscaped = false
                continue
            }
            switch scalar {
            case "\\":
                word = word ?? PolicyWord()
                isEscaped = true
            case "\"":
                word = word ?? PolicyWord()
                isQuoted.toggle()
            case " " where !isQuoted, "\t" where !isQuoted, "\r" where !isQuoted:
                if let whole = word { words.append(whole) }
                word = nil
            case "#" where !isQuoted && word == nil: return words
            default:
                var current = word ?? PolicyWord()
                if scalar == "=", !isQuoted, current.equals == nil { current.equals = current.elements.count }
                current.elements.append(scalar == "*" ? .any : .scalar(scalar))
                word = current
            }
        }
        if isEscaped { throw .danglingEscape }
        if isQuoted { throw .openQuotation }
        return words + [word].compactMap(\.self)
    }
}

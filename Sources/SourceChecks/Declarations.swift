/// The types of a source, with what counts when one asks who is called.
struct Declarations {
    /// A method that an object of the type has.
    struct Method: Equatable {
        let name: String
        /// What stands before each colon outside of the method.
        let labels: [String]
        /// The names in the type of each parameter, without what does not change whether it fits a requirement.
        let types: [[String]]
        let isOverride: Bool
        let file: String
        let line: Int

        /// As documentation writes it.
        var signature: String { "\(name)(\(labels.map { "\($0):" }.joined()))" }

        /// Whether a caller would take one for the other.
        func isSame(as other: Method) -> Bool { signature == other.signature && types == other.types }
    }

    enum Kind: String { case `class`, `extension`, `protocol`, other }

    /// A declaration with braces.
    struct Body {
        let kind: Kind
        let name: String
        /// What stands after the colon.
        let inherits: [String]
        var methods: [Method] = []
        /// Overriding functions and properties, by line.
        var overrides: [Int] = []
    }

    private(set) var bodies: [Body] = []

    init(_ source: CompiledSource) {
        let tokens = source.tokens
        // What is open, from the outside in: a body, or nil for any other braces.
        var open: [Int?] = []
        var index = 0
        // A declaration that has been read up to its brace.
        var next: Body?
        while index < tokens.count {
            let token = tokens[index]
            if token.is("{") {
                if let body = next {
                    bodies.append(body)
                    open.append(bodies.count - 1)
                } else {
                    open.append(nil)
                }
                next = nil
            } else if token.is("}") {
                _ = open.popLast()
            } else if let (body, end) = Self.header(tokens, index) {
                next = body
                index = end
                continue
            } else if let last = open.last, let inside = last {
                if token.is("override") { bodies[inside].overrides.append(token.line) }
                if token.is("func"), let method = Self.method(tokens, index, source.file.name) {
                    bodies[inside].methods.append(method)
                }
            }
            index += 1
        }
    }

    /// The header of a type that begins here, and where its brace is.
    private static func header(_ tokens: [Token], _ index: Int) -> (Body, end: Int)? {
        let kinds: [String: Kind] = [
            "class": .class, "extension": .extension, "protocol": .protocol, "struct": .other, "enum": .other,
            "actor": .other,
        ]
        guard tokens[index].kind == .word, let kind = kinds[tokens[index].text], index + 1 < tokens.count,
            tokens[index + 1].kind == .word,
            !["func", "var", "let", "init", "subscript"].contains(tokens[index + 1].text),
            index == 0 || !tokens[index - 1].is(".")
        else { return nil }
        guard let end = tokens[index...].firstIndex(where: { $0.is("{") || $0.is("}") }), tokens[end].is("{") else {
            return nil
        }
        let header = tokens[(index + 1)..<end]
        let colon = header.firstOutside { $0.is(":") } ?? end
        let name = header[..<colon].prefix { !$0.is("<") && !$0.is("where") }.last { $0.kind == .word }?.text ?? ""
        let list: ArraySlice<Token> = colon < end ? tokens[(colon + 1)..<end].prefix { !$0.is("where") } : []
        let inherits = list.splitOutside { $0.is(",") || $0.is("&") }
            .compactMap { $0.prefix { !$0.is("<") }.last { $0.kind == .word }?.text }
        return (Body(kind: kind, name: name, inherits: inherits), end)
    }

    private static func method(_ tokens: [Token], _ index: Int, _ file: String) -> Method? {
        let modifiers = tokens[..<index].reversed().prefix {
            $0.kind == .word && ($0.text.hasPrefix("@") || modifierNames.contains($0.text))
        }
        guard !modifiers.contains(where: { $0.is("static") || $0.is("class") }), index + 1 < tokens.count,
            tokens[index + 1].kind == .word,
            let start = tokens[index...].firstIndex(where: { $0.is("(") || $0.is("{") }), tokens[start].is("(")
        else { return nil }
        let parameters = tokens[(start + 1)...].untilClosed().splitOutside { $0.is(",") }
        return Method(
            name: tokens[index + 1].text,
            labels: parameters.map { $0.first?.text ?? "" },
            types: parameters.map(typeNames),
            isOverride: modifiers.contains { $0.is("override") },
            file: file,
            line: tokens[index].line
        )
    }

    private static let modifierNames: Set<String> = [
        "public", "open", "internal", "private", "fileprivate", "package", "final", "dynamic", "override",
        "nonisolated",
        "static", "class", "mutating", "required", "objc", "optional",
    ]

    /// Whether an error is spelled with `any`, and whether a type is optional, is left aside.
    private static func typeNames(of parameter: ArraySlice<Token>) -> [String] {
        guard let colon = parameter.firstIndex(where: { $0.is(":") }) else { return [] }
        return parameter[(colon + 1)...].prefix { !$0.is("=") }
            .filter {
                $0.kind == .word
                    && !["Optional", "any", "some", "inout", "Swift", "Foundation", "CoreBluetooth"].contains($0.text)
            }
            .filter { !$0.text.hasPrefix("@") }
            .map(\.text)
    }
}

extension ArraySlice<Token> {
    /// How a bracket changes how deep one is. An arrow is none.
    private func step(at index: Int) -> Int {
        guard self[index].kind == .sign else { return 0 }
        if self[index].is(">"), index > startIndex, self[index - 1].is("-") { return 0 }
        return "([{<".contains(self[index].text) ? 1 : ")]}>".contains(self[index].text) ? -1 : 0
    }

    /// The first of which that holds and that stands in no brackets.
    fileprivate func firstOutside(_ holds: (Token) -> Bool) -> Int? {
        var depth = 0
        for index in indices {
            if depth == 0, holds(self[index]) { return index }
            depth += step(at: index)
        }
        return nil
    }

    /// What stands between those of which that holds and that stand in no brackets.
    fileprivate func splitOutside(_ holds: (Token) -> Bool) -> [ArraySlice<Token>] {
        var parts: [ArraySlice<Token>] = []
        var rest = self
        while let index = rest.firstOutside(holds) {
            parts.append(rest[..<index])
            rest = rest[(index + 1)...]
        }
        return rest.isEmpty ? parts : parts + [rest]
    }

    /// What stands before the bracket that closes.
    fileprivate func untilClosed() -> ArraySlice<Token> {
        var depth = 1
        for index in indices {
            depth += step(at: index)
            if depth == 0 { return self[..<index] }
        }
        return self
    }
}

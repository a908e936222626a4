/// The type declarations of a source file, reduced to what decides which delegate methods are called.
struct Declarations {
    struct Method: Equatable {
        let name: String
        let labels: [String]
        /// The names in the type of each parameter, without those that do not affect whether it satisfies a
        /// requirement.
        let types: [[String]]
        let isOverride: Bool
        let file: String
        let line: Int

        /// The method's name in documentation form, such as `name(_:label:)`.
        var signature: String { "\(name)(\(labels.map { "\($0):" }.joined()))" }

        /// Whether both methods satisfy the same requirement.
        func isSame(as other: Method) -> Bool { signature == other.signature && types == other.types }
    }

    enum Kind: String { case `class`, `extension`, `protocol`, other }

    /// A declaration with braces.
    struct Body {
        let kind: Kind
        let name: String
        /// The inheritance clause: superclass and protocols.
        let inherits: [String]
        var methods: [Method] = []
        /// The line numbers of overriding functions and properties.
        var overrides: [Int] = []
    }

    private(set) var bodies: [Body] = []

    init(_ source: CompiledSource) {
        let tokens = source.tokens
        // The open braces, outermost first: the index of a body, or nil for other braces.
        var open: [Int?] = []
        var index = 0
        // A declaration whose header has been read, up to its opening brace.
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

    /// Parses the header of a type declaration that starts at `index`. `end` is the index of its opening brace.
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

    /// Ignores whether the type is optional and whether it is spelled with `any`.
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
    /// Returns how a token changes the bracket depth. The arrow `->` does not.
    private func step(at index: Int) -> Int {
        guard self[index].kind == .sign else { return 0 }
        if self[index].is(">"), index > startIndex, self[index - 1].is("-") { return 0 }
        return "([{<".contains(self[index].text) ? 1 : ")]}>".contains(self[index].text) ? -1 : 0
    }

    /// Returns the index of the first token outside brackets for which `holds` is true.
    fileprivate func firstOutside(_ holds: (Token) -> Bool) -> Int? {
        var depth = 0
        for index in indices {
            if depth == 0, holds(self[index]) { return index }
            depth += step(at: index)
        }
        return nil
    }

    /// Splits the tokens at those outside brackets for which `holds` is true.
    fileprivate func splitOutside(_ holds: (Token) -> Bool) -> [ArraySlice<Token>] {
        var parts: [ArraySlice<Token>] = []
        var rest = self
        while let index = rest.firstOutside(holds) {
            parts.append(rest[..<index])
            rest = rest[(index + 1)...]
        }
        return rest.isEmpty ? parts : parts + [rest]
    }

    fileprivate func untilClosed() -> ArraySlice<Token> {
        var depth = 1
        for index in indices {
            depth += step(at: index)
            if depth == 0 { return self[..<index] }
        }
        return self
    }
}

import SwiftSyntax

/// A place for a mutant, and the change it makes.
struct FoundMutant {
    let node: Syntax
    let kind: Mutant.Kind
    let change: String
    /// The text to put around the node, with `#` for the number.
    let before: String
    let after: String
    /// The operator that a comma replaces.
    var token: TokenSyntax?

    func edits(number: Int, order: Int) -> [Edit] {
        let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
        let end = node.endPositionBeforeTrailingTrivia.utf8Offset
        let front = before.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number)")
        var edits = [
            Edit(offset: start, place: .before, text: front, order: order),
            Edit(offset: end, place: .after, text: after, order: order),
        ]
        if let token {
            let place = Edit.Place.inPlaceOf(length: token.trimmedLength.utf8Length)
            let offset = token.positionAfterSkippingLeadingTrivia.utf8Offset
            edits.append(Edit(offset: offset, place: place, text: ",", order: order))
        }
        return edits
    }
}

extension FoundMutant {
    static func inverted(_ node: some SyntaxProtocol) -> FoundMutant {
        call("mutantInverted", node, .inverted, "`\(node.oneLine)` inverted")
    }

    static func alwaysTrue(_ node: some SyntaxProtocol) -> FoundMutant {
        call("mutantTrue", node, .alwaysTrue, "`\(node.oneLine)` always true")
    }

    static func alwaysFalse(_ node: some SyntaxProtocol) -> FoundMutant {
        call("mutantFalse", node, .alwaysFalse, "`\(node.oneLine)` always false")
    }

    static func removed(_ node: some SyntaxProtocol) -> FoundMutant {
        let change = "`\(node.oneLine)` removed"
        return FoundMutant(
            node: Syntax(node),
            kind: .removed,
            change: change,
            before: "if !mutantIsActive(#) { ",
            after: " }"
        )
    }

    static func literal(_ node: IntegerLiteralExprSyntax, _ other: Int) -> FoundMutant {
        let prefix = String(node.literal.text.prefix(2))
        let radix = ["0x": 16, "0o": 8, "0b": 2][prefix]
        let text = radix.map { prefix + String(other, radix: $0, uppercase: true) } ?? "\(other)"
        return FoundMutant(
            node: Syntax(node),
            kind: .literal,
            change: "\(node.oneLine) -> \(text)",
            before: "mutantLiteral(#, ",
            after: ", \(other))"
        )
    }

    /// A mutant that shifts a comparison by one; nil for other operators.
    static func shifted(_ node: InfixOperatorExprSyntax, _ token: TokenSyntax) -> FoundMutant? {
        let shifts = [
            "<": ("mutantLess", "<="), "<=": ("mutantLessOrEqual", "<"),
            ">": ("mutantGreater", ">="), ">=": ("mutantGreaterOrEqual", ">"),
        ]
        guard let (function, other) = shifts[token.text] else { return nil }
        let change = "`\(node.oneLine)` -> `\(node.leftOperand.oneLine) \(other) \(node.rightOperand.oneLine)`"
        var found = call(function, node, .shifted, change)
        found.token = token
        return found
    }

    private static func call(
        _ function: String,
        _ node: some SyntaxProtocol,
        _ kind: Mutant.Kind,
        _ change: String
    ) -> FoundMutant {
        FoundMutant(node: Syntax(node), kind: kind, change: change, before: "\(function)(#, ", after: ")")
    }
}

extension SyntaxProtocol {
    /// The text on one line, truncated if long.
    var oneLine: String {
        let words = trimmedDescription.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count <= 100 ? words : words.prefix(97) + "..."
    }

    /// The named declarations that contain the node.
    var scope: String {
        var names: [String] = []
        var next = parent
        while let node = next {
            if let name = node.declaredName { names.insert(name, at: 0) }
            next = node.parent
        }
        return names.joined(separator: ".")
    }

    fileprivate var declaredName: String? {
        if let node = self.as(FunctionDeclSyntax.self) { return node.name.text }
        if self.is(InitializerDeclSyntax.self) { return "init" }
        if self.is(SubscriptDeclSyntax.self) { return "subscript" }
        if let node = self.as(PatternBindingSyntax.self) {
            guard node.parent?.parent?.parent?.is(MemberBlockItemSyntax.self) == true else { return nil }
            return node.pattern.trimmedDescription
        }
        if let node = self.as(ExtensionDeclSyntax.self) { return node.extendedType.trimmedDescription }
        return asProtocol((any NamedDeclSyntax).self)?.name.text
    }
}

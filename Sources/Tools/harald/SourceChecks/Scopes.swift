/// The type declarations that enclose each token of a source.
struct Scopes {
    /// A type declaration or an extension.
    struct Scope: Equatable {
        let name: String
        let isExtension: Bool
    }

    /// The innermost declaration around each token; nil outside of all.
    private var scopes: [Scope?] = []

    init(_ tokens: [Token]) {
        var open: [Scope?] = []
        var next: Scope?
        for (index, token) in tokens.enumerated() {
            scopes.append(open.last(where: { $0 != nil }) ?? nil)
            if token.is("{") {
                open.append(next)
                next = nil
            } else if token.is("}") {
                _ = open.popLast()
            } else if let scope = Self.header(tokens, index) {
                next = scope
            }
        }
    }

    private static let kinds: Set<String> = ["class", "struct", "enum", "actor", "extension"]

    private static func header(_ tokens: [Token], _ index: Int) -> Scope? {
        guard kinds.contains(tokens[index].text), tokens[index].kind == .word, index + 1 < tokens.count,
            tokens[index + 1].kind == .word, !["func", "var", "let", "override"].contains(tokens[index + 1].text),
            index == 0 || !tokens[index - 1].is(".")
        else { return nil }
        return Scope(name: tokens[index + 1].text, isExtension: tokens[index].is("extension"))
    }

    func scope(of index: Int) -> Scope? { scopes[index] }

    /// The tokens inside declarations for which `holds` is true.
    func indices(inside holds: (Scope) -> Bool) -> [Int] { scopes.indices.filter { scopes[$0].map(holds) ?? false } }
}

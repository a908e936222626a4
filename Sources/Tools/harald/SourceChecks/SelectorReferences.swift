/// The `#selector` expressions of a source, as references to methods: `#selector(tick(_:))` becomes
/// `Selector(Self.tick(_:))`, for the type `Selector` of the stand-in `globals`.
struct SelectorReferences {
    private let tokens: [Token]

    init(_ tokens: [Token]) { self.tokens = tokens }

    var edits: [SourceEdit] {
        let scopes = Scopes(tokens)
        return tokens.indices.compactMap { index in
            guard tokens[index].is("#selector"), scopes.scope(of: index) != nil else { return nil }
            return edit(at: index)
        }
    }

    private func edit(at index: Int) -> SourceEdit? {
        guard index + 2 < tokens.count, tokens[index + 1].is("("), tokens[index + 2].kind == .word else { return nil }
        let first = tokens[index + 2]
        let isPath = index + 3 < tokens.count && tokens[index + 3].is(".")
        let start: Int
        if first.is("self") || first.is("Self"), isPath, index + 4 < tokens.count {
            start = tokens[index + 4].range.lowerBound
        } else if isPath || ["getter", "setter"].contains(first.text) {
            // A type is as good without Objective-C. The type of another object cannot be told from its name.
            guard first.text.first?.isUppercase == true else { return nil }
            return SourceEdit(range: tokens[index].range, text: "Selector")
        } else {
            start = first.range.lowerBound
        }
        return SourceEdit(range: tokens[index].range.lowerBound..<start, text: "Selector(Self.")
    }
}

/// The conditions of a source in which `os(iOS)` is to hold on Linux as well: it becomes `(os(iOS) || os(Linux))`.
struct AppleConditions {
    private let tokens: [Token]

    init(_ tokens: [Token]) { self.tokens = tokens }

    var edits: [SourceEdit] {
        var isCondition = false
        return tokens.indices.compactMap { index in
            if tokens[index].isFirst { isCondition = tokens[index].is("#if") || tokens[index].is("#elseif") }
            guard isCondition, index + 3 < tokens.count, tokens[index].is("os"), tokens[index + 1].is("("),
                tokens[index + 2].is("iOS"), tokens[index + 3].is(")")
            else { return nil }
            let range = tokens[index].range.lowerBound..<tokens[index + 3].range.upperBound
            return SourceEdit(range: range, text: "(os(iOS) || os(Linux))")
        }
    }
}

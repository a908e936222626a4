/// Finds code that needs Objective-C.
struct ObjectiveCWords {
    private let source: CompiledSource
    private let delegateMethods: Set<String>

    init(_ source: CompiledSource, optional: OptionalMethods) {
        self.source = source
        delegateMethods = optional.names
    }

    var findings: [SourceFinding] {
        source.tokens.indices.compactMap { index in
            message(at: index).map {
                SourceFinding(file: source.file.name, line: source.tokens[index].line, kind: .error, message: $0)
            }
        }
    }

    private func message(at index: Int) -> String? {
        let text = source.tokens[index].text
        guard source.tokens[index].kind == .word else { return nil }
        if text == "@objc", follows(index, "optional") { return nil }
        if Adaptation.attributes.contains(text) {
            return "\(text) needs Objective-C: remove it, or use --adapt to remove it in a copy"
        }
        if let advice = Self.words[text] { return advice }
        if text == "optional", follows(index, "func") || follows(index, "var") {
            return "an optional requirement needs Objective-C: provide a default in a protocol extension"
        }
        return call(at: index)
    }

    private func follows(_ index: Int, _ text: String...) -> Bool {
        let next = source.tokens[(index + 1)...].prefix(text.count)
        return next.count == text.count && zip(next, text).allSatisfy { $0.is($1) }
    }

    /// Returns the message for a dynamic call: an optional method, key-value coding or observing.
    private func call(at index: Int) -> String? {
        guard index > 0, source.tokens[index - 1].is(".") || source.tokens[index - 1].is("?") else { return nil }
        let text = source.tokens[index].text
        if delegateMethods.contains(text), follows(index, "?", "(") {
            return "\(text)?(…) needs Objective-C: call it without the question mark; the default does nothing"
        }
        let isByKey = ["forKey", "forKeyPath"].contains { label in
            follows(index, "(", label) && text == "value" || text == "setValue" && source.hasLabel(label, after: index)
                || text == "addObserver" && label == "forKeyPath" && source.hasLabel(label, after: index)
        }
        let isObserving = text == "observe" && follows(index, "(", "\\")
        return isByKey || isObserving
            ? "key-value coding needs Objective-C: use the property directly, or a method of your own" : nil
    }

    private static let words = [
        "#selector": """
        #selector needs Objective-C: use the variant that takes a closure, such as Timer(timeInterval:repeats:block:) \
        or addObserver(forName:object:queue:using:)
        """,
        "#keyPath": "#keyPath needs Objective-C: use a key path, \\.name",
        "NSSelectorFromString": "selectors need Objective-C: call the method directly",
        "@IBOutlet": "@IBOutlet needs Interface Builder, which Linux does not have: remove it",
        "@NSManaged": "@NSManaged needs Core Data, which Linux does not have",
    ]
}

extension CompiledSource {
    /// Whether the call that starts after `index` has an argument with this label.
    fileprivate func hasLabel(_ label: String, after index: Int) -> Bool {
        var depth = 0
        for token in tokens[(index + 1)...] {
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            if depth == 0 { return false }
            if depth == 1, token.is(label) { return true }
        }
        return false
    }
}

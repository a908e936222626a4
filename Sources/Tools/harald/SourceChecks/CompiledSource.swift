/// The tokens of a source file that are compiled on Linux.
struct CompiledSource {
    /// A branch that is not compiled on Linux.
    struct LostBranch: Equatable {
        let line: Int
        /// The condition as written; nil for `#else`.
        let condition: String?
        let lines: Int
        /// The names that it declares, in order.
        let names: [String]
    }

    let file: SourceFile
    private(set) var tokens: [Token] = []
    /// Uncompiled branches that contain code, in `#if` chains that do not mention Linux.
    private(set) var lost: [LostBranch] = []

    init(_ file: SourceFile, modules: Modules) {
        self.file = file
        var forks: [Fork] = []
        var importLine = 0
        var rest = Tokenizer.tokens(of: file.text)[...]
        while let token = rest.popFirst() {
            let isDirective = token.isFirst && ["#if", "#elseif", "#else", "#endif"].contains(token.text)
            guard isDirective, token.is("#if") || !forks.isEmpty else {
                if forks.last?.isCompiled ?? true { tokens.append(token) }
                if token.is("import") { importLine = token.line }
                // A branch of nothing but imports is no loss.
                let isImport = token.line == importLine || token.text.hasPrefix("@")
                if !isImport, !forks.isEmpty { forks[forks.count - 1].note(token) }
                continue
            }
            if token.is("#if") {
                forks.append(Fork(isReached: forks.last?.isCompiled ?? true))
            } else {
                forks[forks.count - 1].leave(at: token.line)
            }
            if token.is("#endif") {
                let fork = forks.removeLast()
                if fork.isReached, !fork.knowsLinux { lost += fork.lost }
                if fork.hasHadCode, !forks.isEmpty { forks[forks.count - 1].note(fork) }
            } else {
                let condition = rest.prefix { !$0.isFirst }
                rest = rest.dropFirst(condition.count)
                forks[forks.count - 1].enter(token, token.is("#else") ? nil : Array(condition), modules)
            }
        }
        lost.sort { $0.line < $1.line }
    }
}

extension CompiledSource {
    var declaredNames: [String] { Self.names(in: tokens) }

    fileprivate static func names(in tokens: [Token]) -> [String] {
        zip(tokens, tokens.dropFirst()).filter { introducers.contains($0.0.text) && $0.1.kind == .word }.map(\.1.text)
    }

    private static let introducers: Set<String> = [
        "func", "let", "var", "typealias", "class", "struct", "enum", "actor", "protocol",
    ]
}

/// An `#if` whose `#endif` has not come yet.
private struct Fork {
    /// Whether the enclosing code is compiled.
    let isReached: Bool
    /// Whether the current branch is compiled, or may be.
    private(set) var isCompiled = false
    /// Whether an earlier branch is certainly taken, so that later conditions do not matter.
    private var isDecided = false
    private(set) var knowsLinux = false
    private(set) var lost: [CompiledSource.LostBranch] = []
    private var hasCode = false
    private(set) var hasHadCode = false
    /// The code of the current branch.
    private var code: [Token] = []
    /// The code of all branches.
    private var all: [Token] = []
    private var line = 0
    private var condition: String?

    init(isReached: Bool) { self.isReached = isReached }

    mutating func enter(_ directive: Token, _ condition: [Token]?, _ modules: Modules) {
        let value = condition.map { Condition.value(of: $0, modules: modules) } ?? true
        isCompiled = isReached && !isDecided && value != false
        if value == true { isDecided = true }
        if condition?.contains(where: { $0.is("Linux") }) == true { knowsLinux = true }
        line = directive.line
        self.condition = condition.map {
            $0.map(\.text).joined().replacing("&&", with: " && ").replacing("||", with: " || ")
        }
        hasCode = false
        code = []
    }

    mutating func note(_ token: Token) {
        hasCode = true
        // Compiled code is kept by the source.
        if !isCompiled { code.append(token) }
    }

    mutating func note(_ inner: Fork) {
        hasCode = true
        code += inner.all
    }

    mutating func leave(at end: Int) {
        if !isCompiled, hasCode {
            let names = CompiledSource.names(in: code)
            lost.append(.init(line: line, condition: condition, lines: end - line - 1, names: names))
        }
        hasHadCode = hasHadCode || hasCode
        all += code
    }
}

/// Finds code in a package that behaves differently on Linux than on Apple's platforms.
struct SourceCheck {
    private let files: [SourceFile]
    private let interface: [SourceFile]
    private let modules: Modules

    init(_ files: [SourceFile], modules: Modules) {
        self.init(files, interface: [DelegateInterface.file], modules: modules)
    }

    /// - Parameter interface: Sources that declare delegate protocols.
    init(_ files: [SourceFile], interface: [SourceFile], modules: Modules) {
        self.files = files
        self.interface = interface
        self.modules = modules
    }

    /// The findings, sorted by file and line.
    var findings: [SourceFinding] {
        let sources = files.map { CompiledSource($0, modules: modules) }
        let declarations = sources.map { Declarations($0) }
        let delegates = interface.map { Declarations(CompiledSource($0, modules: modules)) }
        let optional = OptionalMethods(delegates)
        let declared = Set(sources.flatMap(\.declaredNames))
        var found = sources.flatMap { source in
            lostBranches(source) + imports(source)
                + ObjectiveCWords(source, optional: optional, modules: modules, declared: declared).findings
        }
        for (source, declared) in zip(sources, declarations) { found += overrides(source, declared) }
        found += UncalledMethods(declarations, optional: optional).findings
        return found.sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
    }

    private func lostBranches(_ source: CompiledSource) -> [SourceFinding] {
        source.lost.map { branch in
            let lines = branch.lines == 1 ? "1 line" : "\(branch.lines) lines"
            let place = branch.condition.map { "#if \($0)" } ?? "#else"
            let isForIOS = branch.condition?.contains("os(iOS)") ?? false
            return SourceFinding(
                file: source.file.name,
                line: branch.line,
                kind: .warning,
                message: """
                    \(lines) behind \(place)\(Self.vanished(branch.names)), not compiled on Linux; \
                    add os(Linux) if the code works there\(isForIOS ? ", or use --ios \(source.file.name)" : "")
                    """
            )
        }
    }

    /// The number of names that a message has of what is not there.
    private static let maximumNames = 4

    private static func vanished(_ names: [String]) -> String {
        var seen: Set<String> = []
        let names = names.filter { seen.insert($0).inserted }
        guard !names.isEmpty else { return "" }
        let more = names.count > maximumNames ? " and \(names.count - maximumNames) more" : ""
        return " with \(names.prefix(maximumNames).joined(separator: ", "))\(more)"
    }

    private func imports(_ source: CompiledSource) -> [SourceFinding] {
        let tokens = source.tokens
        return tokens.indices.compactMap { index in
            guard tokens[index].is("import") else { return nil }
            // The module of declarations such as `import struct Foundation.Data` and `import os.log`.
            let words = tokens[(index + 1)...].prefix { $0.line == tokens[index].line && $0.kind == .word }
            guard let module = words.last?.text, modules.canImport(module) == false else { return nil }
            return SourceFinding(
                file: source.file.name,
                line: tokens[index].line,
                kind: .error,
                message: "Linux has no \(module): \(modules.advice(for: module))"
            )
        }
    }

    private func overrides(_ source: CompiledSource, _ declarations: Declarations) -> [SourceFinding] {
        declarations.bodies.filter { $0.kind == .extension }.flatMap(\.overrides).map { line in
            SourceFinding(
                file: source.file.name,
                line: line,
                kind: .error,
                message: "overriding in an extension needs Objective-C: move it into the class"
            )
        }
    }
}

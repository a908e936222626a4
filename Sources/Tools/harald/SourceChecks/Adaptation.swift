/// A source file in which code that needs Objective-C is replaced by code that does the same without, where that can be
/// told from the source alone.
struct Adaptation {
    /// Attributes without effect where there is no Objective-C.
    static let attributes: Set<String> = ["@objc", "@objcMembers"]

    let original: SourceFile
    let adapted: SourceFile

    /// Adapts a file.
    ///
    /// - Parameters:
    ///   - optional: The names of optional methods, which are called with a question mark.
    ///   - isForIOS: Whether `os(iOS)` is to hold in it.
    init(_ file: SourceFile, optional: Set<String> = [], isForIOS: Bool = false) {
        original = file
        let octets = Array(file.text.utf8)
        var kept: [UInt8] = []
        var place = 0
        let tokens = Tokenizer.tokens(of: file.text)
        let conditions = isForIOS ? AppleConditions(tokens).edits : []
        for edit in Self.sorted(Self.edits(in: tokens, octets, optional: optional) + conditions) {
            guard edit.range.lowerBound >= place else { continue }
            kept += octets[place..<edit.range.lowerBound] + Array(edit.text.utf8)
            place = edit.range.upperBound
            guard edit.takesSpace else { continue }
            while place < octets.count, octets[place] == UInt8(ascii: " ") { place += 1 }
        }
        kept += octets[place...]
        adapted = SourceFile(name: file.name, text: String(decoding: kept, as: UTF8.self))
    }

    /// Adapts all sources of a package.
    ///
    /// - Parameter paths: The files, and directories of files, in which `os(iOS)` is to hold.
    static func of(_ files: [SourceFile], forIOS paths: Set<String> = []) -> [Adaptation] {
        let delegates = OptionalMethods([Declarations(CompiledSource(DelegateInterface.file, modules: Modules()))])
        let optional = files.reduce(into: delegates.names) { names, file in
            names.formUnion(ObjectiveCProtocols(Tokenizer.tokens(of: file.text)).optionalNames)
        }
        return files.map { file in
            Adaptation(file, optional: optional, isForIOS: paths.contains { file.isAt($0) })
        }
    }

    var hasChanges: Bool { original.text != adapted.text }

    /// The changed lines in the format of `diff -U0`. Adaptation neither adds nor removes lines.
    var difference: String {
        let before = original.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let after = adapted.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let changes = zip(before, after).enumerated().filter { $1.0 != $1.1 }
        guard !changes.isEmpty else { return "" }
        return "--- \(original.name)\n+++ \(adapted.name)\n"
            + changes.map { "@@ -\($0 + 1) +\($0 + 1) @@\n-\($1.0)\n+\($1.1)\n" }.joined()
    }

    private static func edits(in tokens: [Token], _ octets: [UInt8], optional: Set<String>) -> [SourceEdit] {
        let edits =
            tokens.indices.flatMap { index -> [SourceEdit] in
                if let end = attribute(at: index, in: tokens) {
                    let range = tokens[index].range.lowerBound..<tokens[end].range.upperBound
                    return [.removal(range), classBound(after: end, in: tokens)].compactMap { $0 }
                }
                return [questionMark(at: index, in: tokens, optional: optional)].compactMap { $0 }
            } + ObjectiveCProtocols(tokens).edits(octets) + SelectorReferences(tokens).edits + overrides(in: tokens)
        return edits + ObservedPaths(tokens).edits + runtimeImports(in: tokens)
    }

    private static func sorted(_ edits: [SourceEdit]) -> [SourceEdit] {
        edits.sorted { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
    }

    /// Removes imports of Objective-C's runtime. What remains of it is in the stand-in `globals`.
    private static func runtimeImports(in tokens: [Token]) -> [SourceEdit] {
        tokens.indices.compactMap { index in
            guard index + 1 < tokens.count, tokens[index].is("import"), tokens[index + 1].is("ObjectiveC"),
                tokens[index].isFirst
            else { return nil }
            let end = tokens[index...].prefix { $0.line == tokens[index].line }.endIndex
            return .removal(tokens[index].range.lowerBound..<tokens[end - 1].range.upperBound)
        }
    }

    /// Returns the last token of the attribute that starts at `index`, including a name in parentheses.
    private static func attribute(at index: Int, in tokens: [Token]) -> Int? {
        guard attributes.contains(tokens[index].text), tokens[index].kind == .word else { return nil }
        guard index + 1 < tokens.count, tokens[index + 1].range.lowerBound == tokens[index].range.upperBound,
            tokens[index + 1].is("("), let end = tokens[index...].firstIndex(where: { $0.is(")") })
        else { return index }
        return end
    }

    private static let modifiers: Set<String> = ["public", "package", "internal", "fileprivate", "private"]

    /// Returns the edit that class-binds the protocol whose attribute ends at `end`, so that delegates of its type can
    /// be weak. Returns nil if it is no protocol or already class-bound.
    private static func classBound(after end: Int, in tokens: [Token]) -> SourceEdit? {
        var rest = tokens[(end + 1)...].drop { modifiers.contains($0.text) }
        guard rest.popFirst()?.is("protocol") == true, let name = rest.popFirst() else { return nil }
        guard let colon = rest.first, colon.is(":") else { return .insertion(": AnyObject", at: name.range.upperBound) }
        let isSaid = rest.prefix { !$0.is("{") }.contains { $0.is("AnyObject") || $0.is("class") }
        return isSaid ? nil : .insertion(" AnyObject,", at: colon.range.upperBound)
    }

    /// Returns the edit that calls an optional method as any other, since it has a default.
    private static func questionMark(at index: Int, in tokens: [Token], optional: Set<String>) -> SourceEdit? {
        guard index > 0, index + 2 < tokens.count, tokens[index - 1].is("."), tokens[index].kind == .word,
            optional.contains(tokens[index].text), tokens[index + 1].is("?"), tokens[index + 2].is("(")
        else { return nil }
        return SourceEdit(range: tokens[index + 1].range)
    }

    /// Renames properties for the debugger that override in an extension, where nothing can be overridden.
    private static func overrides(in tokens: [Token]) -> [SourceEdit] {
        Scopes(tokens).indices(inside: { $0.isExtension }).flatMap { index -> [SourceEdit] in
            guard tokens[index].is("override"),
                let name = tokens[index...].prefix(4).firstIndex(where: { $0.is("debugDescription") }),
                tokens[name - 1].is("var")
            else { return [] }
            let renaming = SourceEdit(range: tokens[name].range, text: "debugDescriptionInExtension")
            // An extension has no open members.
            let access = [index - 1, index + 1].filter { tokens[$0].is("open") }
                .map { SourceEdit(range: tokens[$0].range, text: "public") }
            return [.removal(tokens[index].range), renaming] + access
        }
    }
}

/// A replacement of a range of a source.
struct SourceEdit {
    /// A range of UTF-8 offsets.
    let range: Range<Int>
    var text = ""
    /// Whether to remove the spaces that follow.
    var takesSpace = false

    static func removal(_ range: Range<Int>) -> SourceEdit { SourceEdit(range: range, takesSpace: true) }
    static func insertion(_ text: String, at place: Int) -> SourceEdit { SourceEdit(range: place..<place, text: text) }
}

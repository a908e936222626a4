/// A source file without the attributes that only matter to Objective-C.
package struct Adaptation {
    /// Attributes without effect where there is no Objective-C.
    static let attributes: Set<String> = ["@objc", "@objcMembers"]

    package let original: SourceFile
    package let adapted: SourceFile

    package init(_ file: SourceFile) {
        original = file
        let octets = Array(file.text.utf8)
        var kept: [UInt8] = []
        var place = 0
        for edit in Self.edits(in: Tokenizer.tokens(of: file.text)) {
            kept += octets[place..<edit.range.lowerBound] + Array(edit.text.utf8)
            place = edit.range.upperBound
            guard edit.text.isEmpty else { continue }
            // The space between the attribute and its declaration.
            while place < octets.count, octets[place] == UInt8(ascii: " ") { place += 1 }
        }
        kept += octets[place...]
        adapted = SourceFile(name: file.name, text: String(decoding: kept, as: UTF8.self))
    }

    package var hasChanges: Bool { original.text != adapted.text }

    /// The changed lines in the format of `diff -U0`. Adaptation neither adds nor removes lines.
    package var difference: String {
        let before = original.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let after = adapted.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let changes = zip(before, after).enumerated().filter { $1.0 != $1.1 }
        guard !changes.isEmpty else { return "" }
        return "--- \(original.name)\n+++ \(adapted.name)\n"
            + changes.map { "@@ -\($0 + 1) +\($0 + 1) @@\n-\($1.0)\n+\($1.1)\n" }.joined()
    }

    /// A replacement of a range of the source.
    private struct Edit {
        var range: Range<Int>
        var text = ""
    }

    /// Removes the attributes. Protocols that had one stay class-bound.
    private static func edits(in tokens: [Token]) -> [Edit] {
        let edits = tokens.indices.flatMap { index -> [Edit] in
            guard let end = attribute(at: index, in: tokens) else { return [] }
            let removal = Edit(range: tokens[index].range.lowerBound..<tokens[end].range.upperBound)
            return [removal, classBound(after: end, in: tokens)].compactMap { $0 }
        }
        return edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
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
    private static func classBound(after end: Int, in tokens: [Token]) -> Edit? {
        var rest = tokens[(end + 1)...].drop { modifiers.contains($0.text) }
        guard rest.popFirst()?.is("protocol") == true, let name = rest.popFirst() else { return nil }
        guard let colon = rest.first, colon.is(":") else {
            return Edit(range: name.range.upperBound..<name.range.upperBound, text: ": AnyObject")
        }
        let isSaid = rest.prefix { !$0.is("{") }.contains { $0.is("AnyObject") || $0.is("class") }
        return isSaid ? nil : Edit(range: colon.range.upperBound..<colon.range.upperBound, text: " AnyObject,")
    }
}

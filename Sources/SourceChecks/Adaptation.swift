/// A source from which the attributes are taken that only tell Objective-C of something.
package struct Adaptation {
    /// Without Objective-C nobody asks for what they say.
    static let attributes: Set<String> = ["@objc", "@objcMembers"]

    package let original: SourceFile
    package let adapted: SourceFile

    package init(_ file: SourceFile) {
        original = file
        let octets = Array(file.text.utf8)
        var kept: [UInt8] = []
        var place = 0
        for range in Self.ranges(in: Tokenizer.tokens(of: file.text)) {
            kept += octets[place..<range.lowerBound]
            place = range.upperBound
            // The space between the attribute and what it stands before.
            while place < octets.count, octets[place] == UInt8(ascii: " ") { place += 1 }
        }
        kept += octets[place...]
        adapted = SourceFile(name: file.name, text: String(decoding: kept, as: UTF8.self))
    }

    package var hasChanges: Bool { original.text != adapted.text }

    /// The lines that differ, as `diff -U0` writes them: no line comes or goes.
    package var difference: String {
        let before = original.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let after = adapted.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let changes = zip(before, after).enumerated().filter { $1.0 != $1.1 }
        guard !changes.isEmpty else { return "" }
        return "--- \(original.name)\n+++ \(adapted.name)\n"
            + changes.map { "@@ -\($0 + 1) +\($0 + 1) @@\n-\($1.0)\n+\($1.1)\n" }.joined()
    }

    /// Where the attributes are, with the name in parentheses that one may have.
    private static func ranges(in tokens: [Token]) -> [Range<Int>] {
        tokens.indices.compactMap { index in
            guard attributes.contains(tokens[index].text), tokens[index].kind == .word else { return nil }
            let start = tokens[index].range.lowerBound
            guard index + 1 < tokens.count, tokens[index + 1].range.lowerBound == tokens[index].range.upperBound,
                tokens[index + 1].is("("), let end = tokens[index...].first(where: { $0.is(")") })
            else { return start..<tokens[index].range.upperBound }
            return start..<end.range.upperBound
        }
    }
}

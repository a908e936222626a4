/// The optional requirements of the protocols in a source.
///
/// Without Objective-C the requirement is a common one with a default implementation, which does nothing. That works
/// for methods without a result; others stay as they are.
struct ObjectiveCProtocols {
    /// An optional method without a result.
    private struct Requirement {
        /// The range of the word `optional`.
        let word: Range<Int>
        let name: String
        /// From `func` to the end of the signature, as UTF-8 offsets.
        let signature: Range<Int>
    }

    private struct Declaration {
        let name: String
        let isPublic: Bool
        /// The UTF-8 offset after the closing brace.
        var end = 0
        var requirements: [Requirement] = []
    }

    private var protocols: [Declaration] = []

    init(_ tokens: [Token]) {
        var index = 0
        while index < tokens.count {
            if tokens[index].is("protocol"), let (found, end) = Self.read(tokens, index) {
                protocols.append(found)
                index = end
            }
            index += 1
        }
    }

    var optionalNames: Set<String> { Set(protocols.flatMap(\.requirements).map(\.name)) }

    /// The edits that give each requirement a default, on the line where its protocol ends.
    func edits(_ octets: [UInt8]) -> [SourceEdit] {
        protocols.flatMap { found -> [SourceEdit] in
            let access = found.isPublic ? "public " : ""
            let edited = found.requirements.map { ($0.word, String(decoding: octets[$0.signature], as: UTF8.self)) }
                // On one line a comment would reach to the end of all.
                .filter { !$0.1.contains("//") }
            guard !edited.isEmpty else { return [] }
            let methods = edited.map { "\(access)\($0.1.oneLine) {}" }.joined(separator: "; ")
            let defaults = SourceEdit.insertion("; extension \(found.name) { \(methods) }", at: found.end)
            return edited.map { .removal($0.0) } + [defaults]
        }
    }

    private static func read(_ tokens: [Token], _ index: Int) -> (Declaration, end: Int)? {
        guard index + 1 < tokens.count, tokens[index + 1].kind == .word,
            let start = tokens[index...].firstIndex(where: { $0.is("{") })
        else { return nil }
        let isPublic = tokens[..<index].suffix(3).reversed().prefix { $0.kind == .word }.contains { $0.is("public") }
        var found = Declaration(name: tokens[index + 1].text, isPublic: isPublic)
        var depth = 1
        for place in (start + 1)..<tokens.count {
            if tokens[place].is("{") { depth += 1 }
            if tokens[place].is("}") { depth -= 1 }
            if tokens[place].is("optional"), let requirement = requirement(tokens, place) {
                found.requirements.append(requirement)
            }
            guard depth == 0 else { continue }
            found.end = tokens[place].range.upperBound
            return (found, place)
        }
        return nil
    }

    private static func requirement(_ tokens: [Token], _ index: Int) -> Requirement? {
        guard index + 3 < tokens.count, tokens[index + 1].is("func"), tokens[index + 3].is("(") else { return nil }
        var depth = 0
        var end = index + 3
        repeat {
            if tokens[end].is("(") { depth += 1 }
            if tokens[end].is(")") { depth -= 1 }
            end += 1
        } while depth > 0 && end < tokens.count
        // A result, or an effect that a default would have to have too.
        guard end < tokens.count, !["-", "async", "throws"].contains(where: { tokens[end].is($0) }) else { return nil }
        return Requirement(
            word: tokens[index].range,
            name: tokens[index + 2].text,
            signature: tokens[index + 1].range.lowerBound..<tokens[end - 1].range.upperBound
        )
    }
}

extension String {
    /// The text with each line break, and the space around it, as one space.
    fileprivate var oneLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
    }
}

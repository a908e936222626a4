import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Plants mutants in a series of files. Each file has a thousand numbers, so that a change to one does not renumber the
/// others.
struct Planting {
    private static let numbersOfFile = 1000

    private(set) var mutants: [Mutant] = []
    /// The keys of mutants to leave out, because the compiler rejected them.
    private let without: Set<String>
    private var seen: [String: Int] = [:]

    init(without: Set<String>) {
        self.without = without
    }

    /// The file with its mutants behind the switch. Each line stays the line that it was.
    mutating func plant(_ source: String, file: String, position: Int) -> String {
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
            .cast(SourceFileSyntax.self)
        let finder = MutantFinder(viewMode: .sourceAccurate)
        finder.walk(tree)
        let converter = SourceLocationConverter(fileName: file, tree: tree)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var edits: [Edit] = []
        for (index, found) in finder.found.enumerated() {
            let start = converter.location(for: found.node.positionAfterSkippingLeadingTrivia)
            let text = lines[start.line - 1].trimmed
            let scope = found.node.scope
            let name = [file, scope, text, found.change].joined(separator: "\t")
            seen[name, default: 0] += 1
            let key = seen[name] == 1 ? name : "\(name)\t\(seen[name] ?? 0)"
            guard !without.contains(key) else { continue }
            let mutant = Mutant(
                number: position * Self.numbersOfFile + index,
                file: file,
                line: start.line,
                column: start.column,
                scope: scope,
                kind: found.kind,
                change: found.change,
                source: text,
                key: key
            )
            mutants.append(mutant)
            edits += found.edits(number: mutant.number, order: edits.count)
        }
        guard !edits.isEmpty else { return source }
        let head = tree.importPosition.utf8Offset
        edits.append(Edit(offset: head, place: .before, text: "import Mutants; ", order: -1))
        return edits.applied(to: source)
    }
}

extension SourceFileSyntax {
    /// The position before the first import, or the first declaration.
    fileprivate var importPosition: AbsolutePosition {
        let item = statements.first { $0.item.is(ImportDeclSyntax.self) } ?? statements.first
        return item?.positionAfterSkippingLeadingTrivia ?? endPosition
    }
}

extension String {
    /// The text without surrounding whitespace.
    var trimmed: String {
        var slice = self[...]
        while slice.first?.isWhitespace == true { slice.removeFirst() }
        while slice.last?.isWhitespace == true { slice.removeLast() }
        return String(slice)
    }
}

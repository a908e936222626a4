import Foundation
import LinkLayer
import Testing

/// Checks that `Documentation/Quirks.md` and the cases agree.
@Suite struct QuirkTableTests {
    private static let table = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Documentation/Quirks.md").standardized

    @Test("each quirk has a row in the table with its number and a source, and there are no other rows")
    func eachQuirkHasALine() throws {
        let lines = try String(contentsOf: Self.table, encoding: .utf8).split(separator: "\n")
        let rows = lines.map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .filter { $0.count > 1 && Int($0[0]) != nil }
        var found: [String: Int] = [:]
        for row in rows {
            try #require(row.count == 6, "\(row)")
            #expect(row.allSatisfy { !$0.isEmpty }, "\(row)")
            found[row[1].trimmingCharacters(in: .init(charactersIn: "`"))] = Int(row[0])
        }
        #expect(found.count == rows.count)
        #expect(found == Dictionary(uniqueKeysWithValues: ControllerQuirk.allCases.map { ($0.rawValue, $0.row) }))
        #expect(Set(found.values) == Set(1...23))
    }
}

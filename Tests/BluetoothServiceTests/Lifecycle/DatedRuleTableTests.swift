import Foundation
import Testing

@testable import BluetoothService

/// Checks that the table of dated rules, `Documentation/Behaviours.md` and the tests agree.
@Suite struct DatedRuleTableTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardized

    private func text(of path: String) throws -> String {
        try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
    }

    @Test("the document has a row for each dated rule, with its number, versions, text and sources, and no others")
    func theDocumentShowsTheTable() throws {
        let document = try text(of: "Documentation/Behaviours.md")
        let parts = document.components(
            separatedBy: "| rule | first version | last version | what these versions do | sources |\n"
        )
        try #require(parts.count == 2)
        let rows = parts[1].split(separator: "\n", omittingEmptySubsequences: false).dropFirst().prefix { !$0.isEmpty }
        let expected = DatedRule.allCases.map { rule in
            let (row, versions) = (rule.row, rule.row.versions)
            let first = versions.lowerBound == .oldest ? "" : "\(versions.lowerBound)"
            let last = versions.upperBound.major == SystemVersion.newest.major ? "" : "\(versions.upperBound)"
            return "| \(row.number) | \(first) | \(last) | \(row.text) | \(row.source) |"
        }
        #expect(rows.map(String.init) == expected)
        for rule in DatedRule.allCases { #expect(document.contains("- **\(rule.row.number)** "), "\(rule)") }
    }

    @Test("each dated rule has a test that names its number, and takes its versions from the table")
    func eachRuleHasATest() throws {
        let files = [
            "Tests/BluetoothServiceTests/Lifecycle/DatedRuleTests.swift",
            "Tests/BluetoothSimulationTests/DatedRuleWorldTests.swift",
        ]
        let tests = try files.flatMap { try text(of: $0).components(separatedBy: "@Test(").dropFirst() }
        for rule in DatedRule.allCases {
            let found = tests.filter { $0.contains("arguments: DatedRule.\(rule).neighbours") }
            #expect(found.count == 1, "\(rule)")
            #expect(found.allSatisfy { $0.contains("\"behaviour \(rule.row.number): ") }, "\(rule)")
            #expect(found.allSatisfy { $0.contains("version.has(.\(rule))") }, "\(rule)")
        }
    }

    @Test("the neighbours of a rule are the versions at and beyond its ends")
    func neighboursOfRules() {
        let last = SystemVersion(27, .max)
        #expect(DatedRule.permission.neighbours == [SystemVersion(12, .max), 13, last])
        #expect(DatedRule.retrievalWithoutPower.neighbours == [10, SystemVersion(12, .max), 13])
        #expect(DatedRule.lostBondsRefused.neighbours == [SystemVersion(13, 3), SystemVersion(13, 4), last])
        #expect(DatedRule.noShortestIntervalAlone.neighbours == [SystemVersion(15, .max), 16, SystemVersion(16, 1)])
    }

    @Test("older and newer versions than those with known rules have the rules of the nearest one")
    func versionsBeyondTheTable() {
        for rule in DatedRule.allCases {
            #expect(SystemVersion(6).has(rule) == SystemVersion.oldest.has(rule), "\(rule)")
            #expect(SystemVersion(40, 2).has(rule) == SystemVersion.newest.has(rule), "\(rule)")
        }
        #expect("\(SystemVersion(16, 1)) \(SystemVersion.last(of: 12)) \(SystemVersion(13))" == "16.1 12 13")
    }
}

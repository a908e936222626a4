import TestBasics
import Testing

/// Takes the issues of a test, which it is about, away from its log, and compares the comments with what is expected.
///
/// It comes before ``WorldTrait``, whose additions it therefore sees.
struct GatheringTrait: TestTrait, TestScoping {
    let check: @Sendable ([GatheredIssue]) -> Void

    func scopeProvider(for test: Test, testCase: Test.Case?) -> GatheringTrait? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let gathered = GatheredIssues()
        try await IssueHandlingTrait.compactMapIssues {
            gathered.add($0)
            return nil
        }.provideScope(for: test, testCase: testCase, performing: function)
        check(gathered.all)
    }
}

struct GatheredIssue: Sendable {
    let issue: Issue
    var comments: [String] { issue.comments.map(\.rawValue) }
    var text: String { comments.joined(separator: "\n") }
}

extension Trait where Self == GatheringTrait {
    static func gathers(_ check: @escaping @Sendable ([GatheredIssue]) -> Void) -> Self { GatheringTrait(check: check) }
}

private final class GatheredIssues: Sendable {
    private let issues = Notes<GatheredIssue>()
    var all: [GatheredIssue] { issues.all }
    func add(_ issue: Issue) { issues.add(GatheredIssue(issue: issue)) }
}

import Testing

@testable import BluetoothTesting

/// The quotes of conditions in failures.
@Suite struct SourceQuoteTests {
    private func quote(_ line: String, at column: Int = 1) -> String? {
        SourceQuote("first\n\(line)", line: 2, column: column)?.text
    }

    @Test("a call is quoted by its closure, or else by its first argument")
    func calls() {
        #expect(quote("world.until { a && b(1) }") == "a && b(1)")
        #expect(quote("  await world.until(within: .seconds(3), \"it {\") { [a, b] in a.is(b) }", at: 9) == "a.is(b)")
        #expect(quote("world.until {\n    a\n        && b\n}") == "a && b")
        #expect(quote("world.expect(a[1, 2].b(c, d), equals: 4)") == "a[1, 2].b(c, d)")
        #expect(quote("world.expect(x)") == "x")
        #expect(quote("world.until { \(String(repeating: "a", count: 500)) }")?.count == 161)
    }

    @Test("what is no call has no quote")
    func noCalls() {
        #expect(quote("") == nil)
        #expect(quote("world.until { a") == nil)
        #expect(quote("let a = [1]") == nil)
        #expect(SourceQuote("one", line: 7, column: 1) == nil)
        #expect(SourceQuote("one", line: 0, column: 1) == nil)
    }

    @Test("the failure of a wait quotes its condition from the source", .gathers(Self.quotes), .world)
    func aWait() async {
        let numbers = [1, 2]
        await world.until(within: .seconds(1)) { numbers.isEmpty }
        await world.until(within: .seconds(1), "there is none") { [numbers] in numbers.isEmpty }
        await world.expect(numbers.count, equals: 3, within: .seconds(1))
    }

    @Sendable private static func quotes(_ issues: [GatheredIssue]) {
        let texts = issues.map { $0.comments.first ?? "" }
        #expect(texts.count == 3)
        #expect(texts.first == "expected within 1 s from 00:00.000 (until 00:01.000): `numbers.isEmpty`; it was not")
        #expect(texts.dropFirst().first?.hasSuffix("there is none; it was not: `numbers.isEmpty`") == true)
        #expect(texts.last?.contains("`numbers.count` is 3; seen: 2 from") == true)
    }
}

import Testing

@testable import harald

@Suite("Tokens of a source")
struct TokenizerTests {
    @Test(
        "neither comments nor strings are code, however they are nested",
        arguments: [
            "a // @objc\nb",
            "a /* @objc /* @objc */ @objc */ b",
            "a \"@objc \\\"@objc\" b",
            "a \"\\(f(\"@objc )\")) @objc\" b",
            "a #\"@objc \\(x) \"@objc\"# b",
            "a \"\"\"\n @objc \"@objc\"\n\"\"\" b",
            "a \"@objc \nb",
            "a /* @objc",
            "a \"\\(@objc",
        ]
    )
    func onlyCode(source: String) {
        let words = Tokenizer.tokens(of: source).filter { $0.kind == .word }.map(\.text)
        #expect(words.allSatisfy { ["a", "b"].contains($0) }, "\(words)")
        #expect(words.first == "a")
    }

    @Test func linesAreCountedThroughCommentsAndStrings() throws {
        let source = "/*\n*/ \"\"\"\n\n\"\"\"\n// c\nhere"
        let here = try #require(Tokenizer.tokens(of: source).first { $0.text == "here" })
        #expect(here.line == 6)
    }

    @Test func aWordIsAnAttributeADirectiveOrANameInQuotes() {
        #expect(
            Tokenizer.tokens(of: "@objc #selector `class` x1 é 0x1F").map(\.text)
                == ["@objc", "#selector", "class", "x1", "é", "0x1F"]
        )
    }

    @Test(
        "the tokenizer reaches the end of any octets",
        arguments: ["\"", "`", "@", "#", "\\", "/*", "\"\"\"\\(", "##", "\"\\"]
    )
    func theEndIsReached(source: String) {
        #expect(Tokenizer.tokens(of: source).allSatisfy { $0.range.upperBound <= source.utf8.count })
    }
}

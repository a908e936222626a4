import Foundation
import Testing

@testable import harald

@Suite struct ShellWordsTests {
    @Test(
        "lines are split as sh splits them",
        arguments: [
            ("", []),
            (" \t\r", []),
            ("read Pulse 2A38", ["read", "Pulse", "2A38"]),
            ("read  'Harald HR' \"battery level\"", ["read", "Harald HR", "battery level"]),
            ("a\\ b c\\\\d", ["a b", "c\\d"]),
            ("\"a\\\"b\\$c\\d\"", ["a\"b$c\\d"]),
            ("'a\\b\"c'", ["a\\b\"c"]),
            ("one'two'\"three\"", ["onetwothree"]),
            ("'' \"\"", ["", ""]),
            ("# a comment 'here", []),
            ("scan # it's one", ["scan"]),
            ("scan a#b '#c'", ["scan", "a#b", "#c"]),
            ("grüße 👋\u{301}", ["grüße", "👋\u{301}"]),
            ("a\r", ["a"]),
        ] as [(String, [String])]
    )
    func splitting(line: String, words: [String]) throws {
        #expect(try ShellWords.split(line) == words)
    }

    @Test(
        "a line that ends in the middle of a word is an error that says why",
        arguments: [
            ("read 'Pulse", "the quotation that begins with ' does not end"),
            ("read \"Pulse", "the quotation that begins with \" does not end"),
            ("read \"Pulse\\", "the quotation that begins with \" does not end"),
            ("read \\", "the line ends with a backslash"),
        ]
    )
    func endings(line: String, text: String) {
        let error = #expect(throws: ShellWords.Unfinished.self) { try ShellWords.split(line) }
        #expect(error?.description == text)
    }

    @Test(
        "a quoted word is split into itself",
        arguments: ["Pulse", "Harald HR", "", "a\"b", "it's", "a\\b$c`d", "#1", "a\tb", "grüße"]
    )
    func quoting(word: String) throws {
        #expect(try ShellWords.split(ShellWords.quoted(word)) == [word])
    }

    @Test("the beginning of a line has its words, and the current one as it was typed")
    func beginnings() {
        let quoted = ShellWords("read \"Harald H")
        #expect(quoted.words == ["read"] && quoted.current == "Harald H" && quoted.typedCount == 9)
        let between = ShellWords("read 'a b' ")
        #expect(between.words == ["read", "a b"] && between.current == nil)
        #expect(ShellWords("scan # x").isInComment)
    }

    /// Any text is split or refused, and what is split and quoted again is the same.
    @Test func noTextTraps() throws {
        let scalars = "'\"\\# \ta\0\u{1B}\u{7F}é👋\u{202E}".unicodeScalars.map(\.self)
        var number: UInt64 = 1
        for _ in 0..<2_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<12 {
                number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.append(scalars[Int(number >> 33) % scalars.count])
            }
            guard let words = try? ShellWords.split(String(text)) else { continue }
            #expect(try ShellWords.split(words.map { ShellWords.quoted($0) }.joined(separator: " ")) == words)
        }
    }
}

import BluetoothTypes
import Testing

@Suite struct VisibleTextTests {
    private static let steering: [ClosedRange<UInt32>] = [
        // C0, DEL and C1; the soft hyphen.
        0x00...0x1F, 0x7F...0x9F, 0xAD...0xAD,
        // The Arabic letter mark, joiners and direction marks, line and paragraph separators, embeddings and overrides,
        // isolates.
        0x061C...0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
        // The byte order mark, interlinear annotation, tags.
        0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0xE0001...0xE0001, 0xE0020...0xE007F,
        // Unassigned: a terminal may interpret them in any way.
        0x0378...0x0379, 0xFDD0...0xFDEF, 0xFFFE...0xFFFF, 0x10FFFE...0x10FFFF,
    ]

    /// The scalars of a text that was made visible.
    private func scalars(_ text: String) -> Set<Unicode.Scalar> { Set(text.unicodeScalars) }

    @Test func control_and_invisible_characters_are_escaped() throws {
        for value in Self.steering.joined() {
            let scalar = try #require(Unicode.Scalar(value))
            for text in ["\(scalar)", "a\(scalar)b", "\(scalar)\u{301}", "\r\n\(scalar)"] {
                for shown in [text.visible, text.quotedName] {
                    #expect(!scalars(shown).contains(scalar))
                    // Compared as UTF-8: with a combining mark, a brace would be another character.
                    #expect(shown.utf8.contains("\\u{\(String(value, radix: 16))}".utf8))
                }
            }
        }
    }

    @Test func ordinary_text_is_unchanged() {
        for text in ["", "Harald HR", "Gerät №5 – «küche»", "心拍計", "نبض", "דופק", "💓 ❤️", "C:\\notes", "\u{FFFD}"] {
            #expect(text.visible == text)
        }
        #expect("Harald HR".quotedName == "\"Harald HR\"")
    }

    @Test func octets_that_are_no_text_are_shown_as_such() {
        // Invalid UTF-8: a lone octet, a lone surrogate, an overlong form, each followed by an escape sequence.
        for octets: [UInt8] in [[0xFF], [0xED, 0xA0, 0x80], [0xC0, 0x9B], [0xC2], [0xF4, 0x90, 0x80, 0x80]] {
            let text = String(decoding: octets + Array("\u{1B}[8m".utf8), as: UTF8.self)
            #expect(text.visible.hasSuffix("\\u{1b}[8m"))
            #expect(text.visible.hasPrefix("\u{FFFD}"))
        }
        // The same C1 control character in valid UTF-8.
        #expect(String(decoding: [0xC2, 0x9B] as [UInt8], as: UTF8.self).visible == "\\u{9b}")
    }

    @Test func a_name_cannot_leave_its_quotation_marks() {
        #expect("x\"? no ] [ pair with \"bank".quotedName == #""x\"? no ] [ pair with \"bank""#)
        // With a combining mark or a joiner it would be another character that looks the same.
        #expect("x\"\u{301}y".quotedName == "\"x\\\"\u{301}y\"")
        #expect("x\"\u{200D}y".quotedName == #""x\"\u{200d}y""#)
        #expect(#"\"#.quotedName == #""\\""#)
    }

    @Test func of_a_long_name_the_beginning_is_shown() {
        #expect(String(repeating: "n", count: 64).quotedName.count == 66)
        #expect(String(repeating: "n", count: 1_650).quotedName == "\"" + String(repeating: "n", count: 64) + "\"...")
        // A single character in Swift.
        let stacked = "n" + String(repeating: "\u{301}", count: 1_000)
        #expect(stacked.quotedName.unicodeScalars.count == 64 + 5)
        #expect(String(repeating: "\u{1B}", count: 1_650).quotedName.count == 64 * 6 + 5)
    }

    @Test(
        "AB-G07: an app's text becomes one line of bounded length without invisible characters",
        arguments: [
            ("plain text", "plain text"), ("  a \n\r\t b  ", "a b"), ("a\u{1B}[2J\u{202E}b", "a\u{FFFD}[2J\u{FFFD}b"),
            ("a\u{3164}\u{2800}\u{A0}b", "a b"), ("", ""), (" \n", ""), ("ä日本 👍", "ä日本 👍"),
            ("0123456789", "0123456789"), ("0123456789a", "0123456789\u{2026}"), ("0123456789 ", "0123456789"),
        ]
    )
    func oneLine(text: String, shown: String) {
        #expect(text.oneLine(10) == shown)
        #expect(shown.visible == shown)
    }

    @Test("AB-G07: only a few combining marks are kept on a character")
    func stackedMarks() {
        let stack = "a" + String(repeating: "\u{0301}", count: 50) + "b"
        #expect(stack.oneLine(60).unicodeScalars.count == 6)
        #expect(stack.oneLine(60).hasSuffix("b"))
    }
}

import AssignedNumbers
import BluetoothTypes
import Testing

@testable import CaptureStory

/// The text of entries, and how it is written.
@Suite struct StoryTextTests {
    private func text(_ write: (inout TextOctets) -> Void) -> String {
        var text = TextOctets()
        write(&text)
        return String(decoding: text.octets, as: UTF8.self)
    }

    @Test("numbers are written as they print, with fillers up to a width")
    func numbers() {
        let powers = sequence(first: UInt64(1)) { $0 > UInt64.max / 10 ? nil : $0 * 10 }
        for number in powers.flatMap({ [$0 - 1, $0, $0 + 1] }) + [.max, .max - 1] {
            #expect(text { $0.append(number) } == "\(number)")
        }
        #expect(text { $0.append(7, width: 3, filler: UInt8(ascii: " ")) } == "  7")
        #expect(text { $0.append(123, width: 3) } == "123")
        #expect(text { $0.append(1_234, width: 3) } == "1234")
        #expect(text { $0.append(12, width: 6) } == "000012")
    }

    @Test(
        "durations are rounded to one decimal of their unit",
        arguments: [
            (-1, "0 us"), (0, "0 us"), (999, "999 us"), (1_000, "1 ms"), (1_049, "1 ms"), (1_050, "1.1 ms"),
            (999_949, "999.9 ms"), (999_950, "1000 ms"), (1_000_000, "1 s"), (StoryLimits.time, "144115188075.9 s"),
        ]
    )
    func durations(_ microseconds: Int64, _ expected: String) {
        #expect(text { $0.append(microseconds: microseconds) } == expected)
        #expect(StoryWords.time(microseconds) == expected)
    }

    @Test("a value is written as other tools print it, in one line")
    func values() {
        let texts = [
            "", "A", "two words", "two  blanks", " a", "a ", "  ", "\"", "\\", "caf\u{E9}", "\u{202E}", "\u{7F}",
        ]
        var values = texts.map { Array($0.utf8) } + (0...255).map { [UInt8($0)] } + [Array(0x18...0x28)]
        // Octets that are no UTF-8, in each of the ways.
        values += [
            [0xC3], [0xC3, 0x41], [0xE2, 0x82], [0x41, 0x82], [0xC0, 0x80], [0xF8, 0x80, 0x80, 0x80],
            [0xED, 0xA0, 0x80],
        ]
        values += [47, 48, 49, 160, 512, 513].flatMap { length in
            [UInt8(ascii: "x"), 0].map { [UInt8](repeating: $0, count: length) }
        }
        for value in values {
            let buffer = PacketBuffer(value)
            let expected = ValueText.plain(buffer).oneLine(160)
            #expect(text { StoryValue(buffer, nil).write(to: &$0) } == expected)
            #expect(StoryValue(buffer, nil).description == expected)
        }
        let level: BluetoothUUID = 0x2A19
        #expect(text { StoryValue([0x50], level).write(to: &$0) } == ValueText.text(of: [0x50], in: level))
        #expect(text { StoryValue.malformed.write(to: &$0) }.isEmpty)
    }

    @Test("words are the use of an attribute, or any text, and what is appended")
    func words() {
        var words = StoryText(.central, .reads, "0x0003", " from offset 5")
        words.append(", tried again")
        #expect(words.description == "the central reads 0x0003 from offset 5, tried again")
        #expect(text(words.write) == words.description)
        #expect(StoryText(.peer, .writes, "0x0003").description == "the peer writes 0x0003")
        var other = StoryText("MTU 23")
        other.append(", tried again")
        #expect(other == StoryText("MTU 23, tried again"))
    }

    @Test("a line has its time, the connection in a column, and no character that a terminal does not show")
    func lines() {
        func entry(_ text: String, at time: Int64, _ connection: Int?) -> StoryEntry {
            StoryEntry(unixMicroseconds: time, offset: 0, connection: connection, kind: .note, words: StoryText(text))
        }
        var lines = StoryLines()
        #expect(lines.isEmpty)
        lines.add(entry("one", at: 1_000_005, 1), since: 5)
        lines.add(entry("two", at: 4, nil), since: 5)
        lines.add(entry("three", at: 1_234_567_000_000, 12_345), since: 0)
        lines.add(entry("a\nb\u{1B}\u{202E}", at: 0, 123), since: 0)
        let expected = """
                 1.000000  #1   one
                 0.000000       two
            1234567.000000  #12345 three
                 0.000000  #123 a\\u{a}b\\u{1b}\\u{202e}

            """
        #expect(String(decoding: lines.octets, as: UTF8.self) == expected)
        lines.removeAll()
        #expect(lines.isEmpty)
    }
}

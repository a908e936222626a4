import Testing

@testable import harald

@Suite struct ShellInputTests {
    /// Returns the input in parts, then its end.
    private func source(_ parts: [[UInt8]]) -> PlainLines {
        var left = parts[...]
        return PlainLines(showsPrompt: false) { left.popFirst() }
    }

    private func lines(_ parts: [UInt8]...) -> [ShellInput] {
        let source = source(parts)
        var found: [ShellInput] = []
        while true {
            let input = source.next(prompt: "")
            guard input != .end else { return found }
            found.append(input)
        }
    }

    @Test("lines are found however the input is cut, and the last one needs no end")
    func cutting() {
        #expect(
            lines(Array("scan\nre".utf8), Array("ad\n\nquit".utf8))
                == ["scan", "read", "", "quit"].map(ShellInput.line)
        )
        #expect(lines() == [])
        #expect(source([]).next(prompt: "") == .end)
    }

    @Test("text that is not UTF-8, and zeroes, are refused")
    func encoding() {
        let refused = ShellInput.invalid("the line is not text in UTF-8")
        #expect(lines([0xFF, 0x0A, 0x61, 0x0A]) == [refused, .line("a")])
        #expect(lines([0x61, 0, 0x62]) == [refused])
    }

    @Test("a line that is too long is refused as a whole, in any cut")
    func lengths() {
        let long = [UInt8](repeating: 0x61, count: ShellInput.maximumLength)
        #expect(lines(long + [0x0A]) == [.line(String(decoding: long, as: UTF8.self))])
        #expect(lines(long + [0x61, 0x0A, 0x62]) == [.tooLong, .line("b")])
        #expect(lines(long, long, long + [0x0A, 0x62, 0x0A]) == [.tooLong, .line("b")])
        #expect(lines(long, long) == [.tooLong])
    }

    @Test("the prompt names the devices that are connected, without control characters")
    func prompts() {
        #expect(Shell.prompt(for: []) == "harald> ")
        #expect(Shell.prompt(for: ["Scale", "Pulse"]) == "harald [Pulse +1]> ")
        #expect(Shell.prompt(for: ["a\u{1B}[2Jb"]) == "harald [a\\u{1b}[2Jb]> ")
        #expect(Shell.prompt(for: [String(repeating: "x", count: 1_000)]).count < 60)
    }
}

// What a peer or an app supplies may be anything: a name can clear the screen, colour a terminal, or turn the text behind it around. What
// persons are shown of it goes through here.

extension String {
    /// The text with everything that would not be seen as itself in an escape as Swift writes it, `\u{1b}`: control characters,
    /// line breaks among them, and what is invisible or changes the direction of writing (general categories Cc, Cf, Zl, Zp and
    /// Cn of Unicode). The same text, where there is nothing of that kind.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isUnseen) else { return self }
        return unicodeScalars.map(\.visible).joined()
    }

    /// A name in quotation marks. It cannot end them itself, nor push away what stands beside it: of long ones this is the
    /// beginning.
    package var quotedName: String { quoted(64) }

    /// The same for a path or a sentence, which are longer.
    package var quotedText: String { quoted(256) }

    private func quoted(_ longest: Int) -> String {
        // By scalar: with a mark upon it, a quotation mark is another character, and looks the same.
        let shown = unicodeScalars.prefix(longest).map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0.visible }.joined()
        return "\"\(shown)\"" + (unicodeScalars.dropFirst(longest).isEmpty ? "" : "...")
    }

    /// One line of up to `limit` scalars: U+FFFD stands for what ``visible`` escapes, one space for white space of any length, and what is
    /// too long ends in an ellipsis. Of marks that are stacked on one character the first four are kept: more of them reach the line above.
    package func oneLine(_ limit: Int) -> String {
        var (line, marks, isBlank) = ("".unicodeScalars, 0, true)
        for scalar in unicodeScalars {
            guard !scalar.isBlank else {
                if !isBlank { line.append(" ") }
                isBlank = true
                continue
            }
            marks = scalar.isMark ? marks + 1 : 0
            guard marks <= 4 else { continue }
            isBlank = false
            guard line.count < limit else { return "\(String(line.prefix(limit)))\u{2026}" }
            line.append(scalar.isUnseen ? "\u{FFFD}" : scalar)
        }
        if line.last == " " { line.removeLast() }
        return String(line)
    }
}

extension Unicode.Scalar {
    fileprivate var visible: String { isUnseen ? "\\u{\(String(value, radix: 16))}" : String(self) }

    fileprivate var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: true
        default: false
        }
    }

    /// Whether nothing is drawn for it and it takes room: white space, and letters and symbols without a shape.
    fileprivate var isBlank: Bool {
        switch value {
        case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0: true
        default: properties.isWhitespace
        }
    }

    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }
}

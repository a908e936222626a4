// Text from a peer or an app is untrusted: it can clear the screen, colour a terminal, or reverse the text after it.
// All such text passes through here before the user sees it.

extension String {
    /// The text with every invisible or deceptive character escaped as in Swift, for example `\u{1b}`.
    ///
    /// This escapes control characters (including line breaks), invisible characters, and those that change the writing
    /// direction (Unicode general categories Cc, Cf, Zl, Zp and Cn). Other text is returned unchanged.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isUnseen) else { return self }
        return unicodeScalars.map(\.visible).joined()
    }

    /// A name in quotation marks, truncated to 64 scalars.
    ///
    /// Quotation marks in the name are escaped, so that it cannot end the quotation early. Truncation keeps it from
    /// pushing away the text beside it.
    package var quotedName: String { quoted(64) }

    /// A path or sentence in quotation marks, truncated to 256 scalars. See ``quotedName``.
    package var quotedText: String { quoted(256) }

    private func quoted(_ longest: Int) -> String {
        // By scalar: a quotation mark with a combining mark is a different character but looks the same.
        let shown = unicodeScalars.prefix(longest).map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0.visible }.joined()
        return "\"\(shown)\"" + (unicodeScalars.dropFirst(longest).isEmpty ? "" : "...")
    }

    /// Returns the text as one line of up to `limit` scalars.
    ///
    /// U+FFFD replaces what ``visible`` escapes, and one space replaces each run of white space. Text that is too long
    /// ends in an ellipsis. Of combining marks stacked on one character the first four are kept, because more would
    /// reach into the line above.
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

    /// Whether the scalar is blank but takes up space: white space, and letters and symbols without a glyph.
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

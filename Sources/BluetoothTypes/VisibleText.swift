// What a peer sends may be anything: a name can clear the screen, colour a terminal, or turn the text behind it around. What persons
// are shown of it goes through here.

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
    package var quotedName: String {
        let longest = 64
        // By scalar: with a mark upon it, a quotation mark is another character, and looks the same.
        let shown = unicodeScalars.prefix(longest).map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0.visible }.joined()
        return "\"\(shown)\"" + (unicodeScalars.dropFirst(longest).isEmpty ? "" : "...")
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
}

import Foundation

/// A C-style format with Apple's extensions: `%@`, `%{public}s`, `%{private, mask.hash}@`.
struct FormattedMessage {
    let format: String
    let arguments: [any CVarArg]

    var text: String {
        var result = ""
        var rest = format[...]
        var next = arguments.makeIterator()
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            guard let item = FormatItem(takenFrom: &rest) else {
                result += "%"
                continue
            }
            result += item.conversion == "%" ? "%" : item.written(&next)
        }
        return result + rest
    }
}

/// One conversion specification of a format.
private struct FormatItem {
    let options: [String]
    let flags: String
    let conversion: Character

    /// Parses the text after a percent sign. On failure, returns nil and consumes nothing.
    init?(takenFrom text: inout Substring) {
        var rest = text
        var options: [String] = []
        if rest.first == "{" {
            guard let end = rest.firstIndex(of: "}") else { return nil }
            options = rest[rest.index(after: rest.startIndex)..<end].split(separator: ",")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            rest = rest[rest.index(after: end)...]
        }
        let flags = rest.prefix { "-+ #0123456789.*".contains($0) }
        rest = rest.dropFirst(flags.count).drop { "hlqLzjt".contains($0) }
        guard let conversion = rest.popFirst() else { return nil }
        self.options = options
        self.flags = String(flags)
        self.conversion = conversion
        text = rest
    }

    func written(_ arguments: inout IndexingIterator<[any CVarArg]>) -> String {
        // A width or a precision of `*` consumes an argument of its own.
        var flags = ""
        for character in self.flags {
            flags += character == "*" ? arguments.next().map { "\($0)" } ?? "" : String(character)
        }
        guard let argument = arguments.next() else { return "<missing>" }
        return privacy.shown(value(of: argument, flags), isNumber: !"@sS".contains(conversion))
    }

    private var privacy: OSLogPrivacy {
        let mask: OSLogPrivacy.Mask = options.contains("mask.hash") ? .hash : .none
        if options.contains("public") { return .public }
        if options.contains("private") || options.contains("sensitive") { return .private(mask: mask) }
        return .auto(mask: mask)
    }

    /// Formats an argument. Its type decides, not the conversion letter: with a wrong letter no memory beyond the
    /// argument is read.
    private func value(of argument: any CVarArg, _ flags: String) -> String {
        switch argument {
        case let integer as any BinaryInteger where "diuxXocDUO".contains(conversion):
            let letter =
                "iD".contains(conversion) ? "d" : conversion == "U" ? "u" : conversion == "O" ? "o" : conversion
            let isSigned = letter == "d"
            let bits: any CVarArg = isSigned ? Int64(truncatingIfNeeded: integer) : unsigned(integer)
            return letter == "c" ? character(integer) : String(format: "%\(flags)ll\(letter)", bits)
        case let number as any BinaryFloatingPoint where "fFeEgGaA".contains(conversion):
            return String(format: "%\(flags)\(conversion)", Double(number))
        case let text as UnsafePointer<CChar> where conversion == "s":
            return String(cString: text)
        default:
            return "\(argument)"
        }
    }

    /// The bit pattern in the width of the argument, so that a negative one of 32 bits has at most eight hexadecimal
    /// digits.
    private func unsigned(_ value: some BinaryInteger) -> UInt64 {
        let all = UInt64(truncatingIfNeeded: value)
        return value.bitWidth < 64 ? all & (1 << UInt64(value.bitWidth) - 1) : all
    }

    private func character(_ value: some BinaryInteger) -> String {
        String(UnicodeScalar(UInt8(truncatingIfNeeded: value)))
    }
}

import BluetoothTypes
import Foundation

/// Checks a text against the grammar of JSON (RFC 8259), and that no object has a key twice. Each error has its line
/// and column, which Foundation's parser does not report. The depth must be bounded already.
struct JSONSyntax {
    private let octets: [UInt8]
    private var position = 0

    private init(_ octets: [UInt8]) {
        self.octets = octets
        // A byte order mark, which parsers may ignore (RFC 8259, 8.1).
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    static func check(_ octets: [UInt8]) throws(AccessoryError) {
        var syntax = JSONSyntax(octets)
        try syntax.value()
        syntax.skipSpace()
        guard syntax.next == nil else { throw syntax.failure("the text should end here", "remove the rest") }
    }

    private var next: UInt8? { position < octets.count ? octets[position] : nil }

    private func failure(_ problem: String, _ advice: String) -> AccessoryError {
        error("this is not JSON: \(problem)", advice, at: position)
    }

    private func error(_ problem: String, _ advice: String, at position: Int) -> AccessoryError {
        let before = octets[..<position]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Characters, not octets: UTF-8 continues a character with octets that begin with 10.
        let column = octets[start..<position].count { $0 & 0xC0 != 0x80 } + 1
        return AccessoryError("line \(line), column \(column)", problem, advice)
    }

    private mutating func skipSpace() {
        while let next, [0x20, 0x09, 0x0A, 0x0D].contains(next) { position += 1 }
    }

    /// Skips white space, and then this octet if it is the next one. Returns whether it was.
    private mutating func skip(_ octet: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: octet) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(AccessoryError) {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): try text()
        case let octet? where octet == UInt8(ascii: "-") || Self.isDigit(octet): try number()
        case nil: throw failure("the text ends too early", "add the missing values and brackets")
        default:
            for word in ["true", "false", "null"] where octets[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return
            }
            throw failure("there is no value here", "write one, or remove the comma before")
        }
    }

    private mutating func object() throws(AccessoryError) {
        position += 1
        var keys: Set<String> = []
        guard !skip("}") else { return }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else {
                throw failure("there is no key here", "write one in quotation marks, or remove the comma before")
            }
            let start = position
            try text()
            let key = Self.decoded(octets[start..<position])
            guard keys.insert(key).inserted else {
                throw error("the key \(key.quotedName) is there twice", "remove one of them", at: start)
            }
            guard skip(":") else { throw failure("there is no colon after the key", "write one") }
            try value()
        } while skip(",")
        guard skip("}") else { throw failure("there is neither a comma nor a closing brace here", "write one") }
    }

    /// The text in quotation marks, without escapes.
    private static func decoded(_ quoted: ArraySlice<UInt8>) -> String {
        let plain = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        guard quoted.contains(UInt8(ascii: "\\")) else { return plain }
        return (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? plain
    }

    private mutating func array() throws(AccessoryError) {
        position += 1
        guard !skip("]") else { return }
        repeat { try value() } while skip(",")
        guard skip("]") else { throw failure("there is neither a comma nor a closing bracket here", "write one") }
    }

    private mutating func text() throws(AccessoryError) {
        position += 1
        while let octet = next, octet != UInt8(ascii: "\"") {
            guard octet >= 0x20 else { throw failure("the text is not closed on its line", "close it, or write \\n") }
            try octet == UInt8(ascii: "\\") ? escape() : (position += 1)
        }
        guard next != nil else { throw failure("the text in quotation marks has no end", "close it") }
        position += 1
    }

    private mutating func escape() throws(AccessoryError) {
        let start = position
        let kind = octets.dropFirst(start + 1).first
        let isUnicode = kind == UInt8(ascii: "u")
        let digits = octets.dropFirst(start + 2).prefix(4)
        let isHexadecimal = digits.count == 4 && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        guard let kind, isUnicode ? isHexadecimal : "\"\\/bfnrt".utf8.contains(kind) else {
            throw failure("this escape is unknown", "write a backslash as \\\\")
        }
        position = start + (isUnicode ? 6 : 2)
    }

    private mutating func number() throws(AccessoryError) {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let whole = digits()
        var isValid = !whole.isEmpty && (whole.count == 1 || whole.first != UInt8(ascii: "0"))
        if next == UInt8(ascii: ".") {
            position += 1
            isValid = !digits().isEmpty && isValid
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            isValid = !digits().isEmpty && isValid
        }
        guard isValid else {
            throw error("this is not JSON: the number is written wrongly", "write it as 12 or 0.5", at: start)
        }
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

    private mutating func digits() -> ArraySlice<UInt8> {
        let start = position
        while let next, Self.isDigit(next) { position += 1 }
        return octets[start..<position]
    }
}

/// The XML form, in UTF-8. It supports the subset of XML that property lists use. A document type with definitions of
/// its own is refused, since these allow entity expansion attacks.
struct XMLPropertyList {
    private struct Tag {
        var name: String
        /// `</name>`.
        var isClosing = false
        /// `<name/>`.
        var isEmpty = false
    }

    private static let entities: [String: String] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    private let octets: [UInt8]
    private var place = 0
    private var budget = PropertyList.Budget()

    init(_ octets: [UInt8]) {
        self.octets = octets
    }

    mutating func root() throws(PropertyList.Fault) -> Any {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        try skipProlog()
        let tag = try tag()
        guard tag.name == "plist", !tag.isClosing, !tag.isEmpty else {
            throw PropertyList.Fault("it is not a property list")
        }
        return try value(try nextTag(), depth: 0)
    }

    // MARK: Values

    private mutating func value(_ tag: Tag, depth: Int) throws(PropertyList.Fault) -> Any {
        try budget.spend(depth: depth)
        guard !tag.isClosing else { throw PropertyList.Fault("</\(tag.name)> has no opening tag") }
        switch tag.name {
        case "dict": return tag.isEmpty ? [String: Any]() : try dictionary(depth: depth)
        case "array": return tag.isEmpty ? [Any]() : try array(depth: depth)
        case "string": return try text(of: tag, depth: depth)
        case "true", "false":
            _ = try text(of: tag, depth: depth)
            return tag.name == "true"
        case "integer":
            let text = try text(of: tag, depth: depth)
            return Int(text.filter { !$0.isWhitespace }) ?? PropertyList.Other()
        case "real": return Double(try text(of: tag, depth: depth)) ?? PropertyList.Other()
        case "data", "date":
            _ = try text(of: tag, depth: depth)
            return PropertyList.Other()
        default: throw PropertyList.Fault("<\(tag.name)> is not an element of property lists")
        }
    }

    private mutating func array(depth: Int) throws(PropertyList.Fault) -> [Any] {
        var values: [Any] = []
        while true {
            let tag = try nextTag()
            if tag.isClosing, tag.name == "array" { return values }
            values.append(try value(tag, depth: depth + 1))
        }
    }

    private mutating func dictionary(depth: Int) throws(PropertyList.Fault) -> [String: Any] {
        var values: [String: Any] = [:]
        while true {
            let tag = try nextTag()
            if tag.isClosing, tag.name == "dict" { return values }
            guard tag.name == "key", !tag.isClosing else { throw PropertyList.Fault("<key> is missing") }
            let key = try text(of: tag, depth: depth + 1)
            values[key] = try value(try nextTag(), depth: depth + 1)
        }
    }

    /// Reads the text up to the closing tag.
    private mutating func text(of tag: Tag, depth: Int) throws(PropertyList.Fault) -> String {
        if tag.isEmpty { return "" }
        var text: [UInt8] = []
        while let octet = octet() {
            switch octet {
            case UInt8(ascii: "&"): text += try entity().utf8
            case UInt8(ascii: "<"):
                if skip("<![CDATA[") {
                    text += try skipped(to: "]]>")
                    continue
                }
                if try skipComment() { continue }
                let end = try self.tag()
                guard end.isClosing, end.name == tag.name else { throw PropertyList.Fault("</\(tag.name)> is missing") }
                try budget.spend(text.count, depth: depth)
                return String(decoding: text, as: UTF8.self)
            default:
                text.append(octet)
                place += 1
            }
        }
        throw PropertyList.Fault("it is truncated")
    }

    /// Reads `&name;`, or a character by its number.
    private mutating func entity() throws(PropertyList.Fault) -> String {
        place += 1
        let name = String(decoding: try skipped(to: ";", atMost: 10), as: UTF8.self)
        if let text = Self.entities[name] { return text }
        let number =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16)
            : name.hasPrefix("#") ? UInt32(name.dropFirst(), radix: 10) : nil
        guard let scalar = number.flatMap(Unicode.Scalar.init) else {
            throw PropertyList.Fault("it contains an unknown entity")
        }
        return String(Character(scalar))
    }

    // MARK: Tags

    /// Reads the next tag, after white space and comments.
    private mutating func nextTag() throws(PropertyList.Fault) -> Tag {
        repeat { skipSpace() } while try skipComment()
        return try tag()
    }

    private mutating func tag() throws(PropertyList.Fault) -> Tag {
        guard skip("<") else { throw PropertyList.Fault("it contains text in place of a tag") }
        let isClosing = skip("/")
        let start = place
        while let octet = octet(), Self.isOfName(octet) { place += 1 }
        var tag = Tag(name: String(decoding: octets[start..<place], as: UTF8.self), isClosing: isClosing)
        guard !tag.name.isEmpty, tag.name.utf8.count <= 16 else {
            throw PropertyList.Fault("it contains a tag with an invalid name")
        }
        try skipAttributes()
        tag.isEmpty = skip("/")
        guard skip(">") else { throw PropertyList.Fault("it contains an unterminated tag") }
        return tag
    }

    private static func isOfName(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
    }

    /// Skips attributes, which have no meaning in property lists.
    private mutating func skipAttributes() throws(PropertyList.Fault) {
        while let octet = octet(), octet != UInt8(ascii: ">"), octet != UInt8(ascii: "/") {
            place += 1
            switch octet {
            case UInt8(ascii: "\""): _ = try skipped(to: "\"")
            case UInt8(ascii: "'"): _ = try skipped(to: "'")
            case UInt8(ascii: "<"): throw PropertyList.Fault("it contains an unterminated tag")
            default: break
            }
        }
    }

    private mutating func skipProlog() throws(PropertyList.Fault) {
        while true {
            skipSpace()
            if try skipComment() { continue }
            if skip("<?") {
                _ = try skipped(to: "?>")
            } else if skip("<!DOCTYPE") {
                let definition = try skipped(to: ">")
                guard !definition.contains(UInt8(ascii: "[")) else {
                    throw PropertyList.Fault("its document type contains definitions")
                }
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(PropertyList.Fault) -> Bool {
        guard skip("<!--") else { return false }
        _ = try skipped(to: "-->")
        return true
    }

    // MARK: Octets

    private func octet() -> UInt8? { place < octets.count ? octets[place] : nil }

    private mutating func skipSpace() {
        while let octet = octet(), [0x20, 0x09, 0x0A, 0x0D].contains(octet) { place += 1 }
    }

    /// Skips the text if it comes next, and returns whether it did.
    private mutating func skip(_ text: StaticString) -> Bool {
        let isNext = text.withUTF8Buffer { octets[place...].starts(with: $0) }
        if isNext { place += text.utf8CodeUnitCount }
        return isNext
    }

    /// Skips up to and including the text, and returns what precedes it.
    private mutating func skipped(to text: StaticString, atMost limit: Int = .max) throws(PropertyList.Fault)
        -> ArraySlice<UInt8>
    {
        let start = place
        while place < octets.count, place - start <= limit {
            if skip(text) { return octets[start..<place - text.utf8CodeUnitCount] }
            place += 1
        }
        throw PropertyList.Fault("it is truncated")
    }
}

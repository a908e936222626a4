import Foundation

/// A JSON value of any form.
enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The kind of value, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number: "a number"
        case .text: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONTree: Codable {
    /// A key with any name.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var members: [String: JSONTree] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(JSONTree.self, forKey: key) }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONTree.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(try decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONTree {
        if container.decodeNil() { return .null }
        if let text = try? container.decode(String.self) { return .text(text) }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        return .number(try container.decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in members { try container.encode(value, forKey: Key(stringValue: name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let value):
            var container = encoder.singleValueContainer()
            if let whole = Int64(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .text(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}

extension JSONTree {
    /// Parses a file. Its size, depth and number of values are checked first, because the parser is recursive and
    /// allocates for each value.
    static func parse(_ octets: some Collection<UInt8>) throws(AccessoryError) -> JSONTree {
        guard octets.count <= AccessoryLimits.fileSize else {
            throw AccessoryError("", "the file has \(octets.count) octets", "use at most \(AccessoryLimits.fileSize)")
        }
        try checkBounds(octets)
        try JSONSyntax.check(Array(octets))
        do {
            return try JSONDecoder().decode(JSONTree.self, from: Data(octets))
        } catch {
            throw AccessoryError("", "this is not JSON: \(reason(error))", "check commas, quotation marks and brackets")
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)".firstLine }
        let inner = context.underlyingError as NSError?
        let text = inner?.userInfo["NSDebugDescription"] as? String ?? context.debugDescription
        let line = text.firstLine
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }

    /// Counts brackets and separators outside of texts.
    private static func checkBounds(_ octets: some Collection<UInt8>) throws(AccessoryError) {
        var (depth, nodes, isText, isEscaped) = (0, 1, false, false)
        for octet in octets {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if octet == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if octet == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch octet {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, nodes) = (depth + 1, nodes + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","): nodes += 1
            default: break
            }
            guard depth <= AccessoryLimits.depth else {
                throw AccessoryError("", "values are nested too deeply", "use at most \(AccessoryLimits.depth) levels")
            }
            guard nodes <= AccessoryLimits.nodes else {
                throw AccessoryError("", "the file has too many values", "use at most \(AccessoryLimits.nodes)")
            }
        }
    }
}

extension String {
    /// The first line, of bounded length.
    fileprivate var firstLine: String {
        String(prefix { !$0.isNewline }.prefix(200))
    }
}

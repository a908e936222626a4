import Foundation

/// A JSON value of any form.
enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])

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
    /// Tells an object from other values; its members are read as a dictionary.
    private enum NoKey: CodingKey {}

    init(from decoder: any Decoder) throws {
        if (try? decoder.container(keyedBy: NoKey.self)) != nil {
            self = .object(try [String: JSONTree](from: decoder))
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try [JSONTree](from: decoder))
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
        case .object(let members): try members.encode(to: encoder)
        case .array(let elements): try elements.encode(to: encoder)
        case .null: try Bool?.none.encode(to: encoder)
        case .bool(let value): try value.encode(to: encoder)
        case .number(let value):
            if let whole = Int64(exactly: value) {
                try whole.encode(to: encoder)
            } else {
                try value.encode(to: encoder)
            }
        case .text(let value): try value.encode(to: encoder)
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
    fileprivate var firstLine: String {
        String(prefix { !$0.isNewline }.prefix(200))
    }
}

/// One small defect that is planted behind a switch.
struct Mutant: Codable {
    enum Kind: String, Codable {
        case inverted, alwaysTrue, alwaysFalse, shifted, literal, removed
    }

    let number: Int
    let file: String
    let line: Int
    let column: Int
    /// The declarations that contain it, outermost first.
    let scope: String
    let kind: Kind
    /// The original and the changed code.
    let change: String
    /// The line on which it starts, without surrounding whitespace.
    let source: String
    /// The identity across versions of the tree: file, scope, line and change, and an index among identical ones.
    let key: String
}

/// Text to insert before or after a node, or to replace a token with.
struct Edit {
    enum Place {
        case before, after
        case inPlaceOf(length: Int)
    }

    /// In octets of UTF-8 from the start of the file.
    let offset: Int
    let place: Place
    let text: String
    /// Larger for inner nodes.
    let order: Int
}

extension [Edit] {
    /// The text with the edits applied. At one position, ends come before starts, and inner nodes stay inside.
    func applied(to source: String) -> String {
        let octets = Array<UInt8>(source.utf8)
        var result: [UInt8] = []
        var position = 0
        for edit in sorted(by: Self.comesBefore) {
            result += octets[position..<edit.offset]
            result += Array<UInt8>(edit.text.utf8)
            position = edit.offset
            if case .inPlaceOf(let length) = edit.place { position += length }
        }
        return String(decoding: result + octets[position...], as: UTF8.self)
    }

    private static func comesBefore(_ a: Edit, _ b: Edit) -> Bool {
        guard a.offset == b.offset else { return a.offset < b.offset }
        return switch (a.place, b.place) {
        case (.after, .after): a.order > b.order
        case (.after, _): true
        case (_, .after): false
        case (.before, .before): a.order < b.order
        case (.before, _): true
        case (_, .before): false
        default: a.order < b.order
        }
    }
}

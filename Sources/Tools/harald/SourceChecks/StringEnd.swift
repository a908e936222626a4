/// Finds the end of a string literal, which may contain interpolations with nested string literals.
struct StringEnd {
    private let octets: [UInt8]
    private var place: Int
    /// The open levels, outermost first.
    private var open: [Level] = []

    private enum Level {
        case string(pounds: Int, hasManyLines: Bool)
        /// Inside an interpolation, at this depth of parentheses.
        case interpolation(depth: Int)
    }

    /// - Parameters:
    ///   - place: The offset of the literal, including its number signs.
    ///   - pounds: The number of number signs before the quotation mark.
    init(octets: [UInt8], place: Int, pounds: Int) {
        self.octets = octets
        self.place = place
        begin(pounds: pounds)
    }

    var end: Int {
        var search = self
        while search.place < octets.count, let level = search.open.last {
            switch level {
            case .string(let pounds, let hasManyLines): search.step(pounds: pounds, hasManyLines: hasManyLines)
            case .interpolation(let depth): search.step(depth: depth)
            }
        }
        return min(search.place, octets.count)
    }

    private func has(_ text: StaticString, _ pounds: Int, at place: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard place + length + pounds <= octets.count else { return false }
        for index in 0..<length where octets[place + index] != text.utf8Start[index] { return false }
        return octets[(place + length)..<(place + length + pounds)].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private mutating func begin(pounds: Int) {
        let hasManyLines = has("\"\"\"", 0, at: place + pounds)
        open.append(.string(pounds: pounds, hasManyLines: hasManyLines))
        place += pounds + (hasManyLines ? 3 : 1)
    }

    private mutating func step(pounds: Int, hasManyLines: Bool) {
        if hasManyLines ? has("\"\"\"", pounds, at: place) : has("\"", pounds, at: place) {
            place += (hasManyLines ? 3 : 1) + pounds
            open.removeLast()
        } else if has("\\", pounds, at: place) {
            place += 1 + pounds
            if place < octets.count, octets[place] == UInt8(ascii: "(") {
                open.append(.interpolation(depth: 0))
            } else {
                place += 1
            }
        } else if !hasManyLines, octets[place] == UInt8(ascii: "\n") {
            // Unterminated. Ends here, so that the rest of the source is still checked.
            open = []
        } else {
            place += 1
        }
    }

    private mutating func step(depth: Int) {
        switch octets[place] {
        case UInt8(ascii: "("):
            open[open.count - 1] = .interpolation(depth: depth + 1)
            place += 1
        case UInt8(ascii: ")"):
            open.removeLast()
            if depth > 1 { open.append(.interpolation(depth: depth - 1)) }
            place += 1
        case UInt8(ascii: "\""):
            begin(pounds: 0)
        default:
            place += 1
        }
    }
}

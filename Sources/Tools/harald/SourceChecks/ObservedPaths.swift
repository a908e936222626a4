/// Key-value observing through a property of one's own: `observe(\.manager?.isScanning)` becomes
/// `NSKeyValueObservation.observe(self, through: { $0.manager }, \.isScanning)`, which observes the object that the
/// property has at that time.
struct ObservedPaths {
    /// An observation by the path from one's own property to a property of Core Bluetooth.
    struct Observation: Equatable {
        /// The octets from the receiver to the end of the path.
        let range: Range<Int>
        /// The path to the object, such as `manager`.
        let object: String
        /// Whether the path ends early if the object is nil, so that the values are optional.
        let isOptional: Bool
        let property: String

        /// The call with the same arguments after the path.
        var replacement: String {
            "NSKeyValueObservation.observe(self, \(isOptional ? "throughOptional" : "through"): { $0.\(object) }, \\.\(property)"
        }
    }

    private let tokens: [Token]

    init(_ tokens: [Token]) { self.tokens = tokens }

    var edits: [SourceEdit] {
        tokens.indices.compactMap { observation(at: $0) }.map { SourceEdit(range: $0.range, text: $0.replacement) }
    }

    /// Returns the observation whose `observe` is at `index`; nil if it is of another kind.
    func observation(at index: Int) -> Observation? {
        guard tokens[index].is("observe"), tokens[index].kind == .word, index + 3 < tokens.count,
            tokens[index + 1].is("("), tokens[index + 2].is("\\"), let start = receiver(of: index)
        else { return nil }
        var place = index + 3
        // The type that the path starts at.
        if tokens[place].kind == .word { place += 1 }
        var parts: [String] = []
        while place + 1 < tokens.count, tokens[place].is("."), tokens[place + 1].kind == .word {
            parts.append(tokens[place + 1].text)
            place += 2
            while place < tokens.count, tokens[place].is("?") || tokens[place].is("!") {
                parts[parts.count - 1] += tokens[place].text
                place += 1
            }
        }
        guard parts.count > 1, let property = parts.popLast(), ObservableProperties.swiftNames.contains(property) else {
            return nil
        }
        let object = parts.joined(separator: ".")
        return Observation(
            range: tokens[start].range.lowerBound..<tokens[place - 1].range.upperBound,
            object: object.last == "?" ? String(object.dropLast()) : object,
            isOptional: object.contains("?"),
            property: property
        )
    }

    /// Returns the first token of a call on `self`, named or not; nil if another object is called.
    private func receiver(of index: Int) -> Int? {
        guard index > 0 else { return index }
        if tokens[index - 1].is("func") { return nil }
        guard tokens[index - 1].is(".") else { return index }
        return index > 1 && tokens[index - 2].is("self") ? index - 2 : nil
    }
}

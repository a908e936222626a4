/// The known words that are spelled almost like an unknown one.
package enum SimilarWords {
    /// Returns the most similar words; none if no word is similar.
    package static func mostSimilar(to word: String, of known: [String]) -> [String] {
        let typed = bare(word)
        if typed.isEmpty { return [] }
        let begun = known.filter { bare($0).hasPrefix(typed) }
        if !begun.isEmpty { return begun }
        let distances = known.map { ($0, typingErrors(from: typed, to: bare($0))) }
        // One error for each three letters: more, and any short word is similar to any other.
        let limit = max(1, typed.count / 3)
        guard let least = distances.map(\.1).min(), least <= limit else { return [] }
        return distances.filter { $0.1 == least }.map(\.0)
    }

    /// The word without hyphens at its start, in lower case.
    private static func bare(_ word: String) -> String { String(word.drop { $0 == "-" }).lowercased() }

    /// Returns the least number of letters to insert, delete, replace, or swap with the next one, to turn one word into
    /// the other (the optimal string alignment distance).
    private static func typingErrors(from first: String, to second: String) -> Int {
        let (from, to) = (Array(first), Array(second))
        // The distances between the prefixes of both, for the last two prefixes of `from`.
        var (beforeLast, last) = ([Int](), Array(0...to.count))
        for (row, letter) in from.enumerated() {
            var next = [row + 1]
            for (column, wanted) in to.enumerated() {
                var least = min(last[column] + (letter == wanted ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == to[column - 1], from[row - 1] == wanted {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                next.append(least)
            }
            (beforeLast, last) = (last, next)
        }
        return last[to.count]
    }
}

import ArgumentParser

/// A word on the command line that stands where a subcommand does and is none. The argument parser reports it as an
/// unexpected argument, without suggestions.
struct UnknownCommand: CustomStringConvertible {
    /// The words of the commands before it; empty in the shell.
    private let path: String
    private let word: String
    /// The known words that are most similar to it.
    private let suggestions: [String]

    /// Returns nil if the arguments name a known command, as far as they name one.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var path = root._commandName
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, Self.isCommand(word) else { return nil }
            if let next = subcommands.first(where: { Self.names(of: $0).contains(word) }) {
                command = next
                path += " \(word)"
                continue
            }
            let known = subcommands.flatMap(Self.names) + ["--help"] + (command == root ? ["--version"] : [])
            let suggestions = Self.mostSimilar(to: word, of: known)
            // The word may be an argument of the default subcommand.
            if command.configuration.defaultSubcommand != nil, suggestions.isEmpty { return nil }
            (self.path, self.word, self.suggestions) = (path, word, suggestions)
            return
        }
        return nil
    }

    /// A first word of a line in the shell that is not one of `known`.
    init(_ word: String, among known: [String]) {
        self.word = word
        path = ""
        suggestions = Self.mostSimilar(to: word, of: known)
    }

    var description: String {
        let offered = suggestions.map { path.isEmpty ? "`\($0)`" : "`\(path) \($0)`" }.joined(separator: " or ")
        let list = path.isEmpty ? "help" : "\(path) --help"
        return suggestions.isEmpty
            ? "there is no command \(word.debugDescription); `\(list)` lists the commands"
            : "there is no command \(word.debugDescription); did you mean \(offered)?"
    }

    /// Other tools print their version with -v or -V.
    private static func isCommand(_ word: String) -> Bool { !word.hasPrefix("-") || ["-v", "-V"].contains(word) }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    /// Returns the most similar words; none if no word is similar.
    private static func mostSimilar(to word: String, of known: [String]) -> [String] {
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

import Accessories
import ArgumentParser

/// A word on the command line that stands where a subcommand does and is none. The argument parser reports it as an
/// unexpected argument, without suggestions.
struct UnknownCommand: CustomStringConvertible {
    /// The words of the commands before it; empty in the shell.
    private let path: String
    private let word: String
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
            let suggestions = SimilarWords.mostSimilar(to: word, of: known)
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
        suggestions = SimilarWords.mostSimilar(to: word, of: known)
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
}

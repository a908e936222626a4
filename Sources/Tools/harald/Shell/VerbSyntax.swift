import ArgumentParser
import Foundation

/// The arguments of a command, as the argument parser describes them.
struct VerbSyntax {
    /// Where in a line of the command the next word is.
    struct Place: Equatable {
        /// The name of the value that the word is; nil if it is none.
        var valueName: String?
        /// Whether the word may be an option.
        var allowsOptions = true
        /// The word for the device before it, if there is one.
        var device: String?
    }

    private struct Dump: Decodable {
        struct Command: Decodable {
            var arguments: [Argument]?
        }

        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }

            let kind: String
            let shouldDisplay: Bool
            var names: [Name]?
            var valueName: String?

            /// The names as they are typed.
            var spellings: [String] {
                (names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
            }
        }

        let command: Command
    }

    private let arguments: [Dump.Argument]

    init(_ command: any ParsableCommand.Type) {
        let dump = try? JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8))
        arguments = dump?.command.arguments?.filter(\.shouldDisplay) ?? []
    }

    /// The long options that a line of the shell may have.
    var options: [String] {
        let all = arguments.flatMap(\.spellings).filter { $0.hasPrefix("--") }
        return all.filter { !Self.isOfSession($0) && $0 != "--version" }
    }

    /// Whether an option is given to the shell itself.
    private static func isOfSession(_ option: String) -> Bool {
        let own = ShellCommand.options.arguments.flatMap(\.spellings)
        return own.contains(option) && !["--json", "--help"].contains(option)
    }

    /// Returns where the word after these is.
    func place(after words: some Sequence<String>) -> Place {
        var place = Place()
        var positionals = arguments.filter { $0.kind == "positional" }[...]
        var option: Dump.Argument?
        for word in words {
            if option != nil {
                option = nil
            } else if place.allowsOptions, word == "--" {
                place.allowsOptions = false
            } else if place.allowsOptions, word.hasPrefix("-"), word.count > 1 {
                option = arguments.first { $0.kind == "option" && $0.spellings.contains(word) }
            } else if let argument = positionals.popFirst() {
                if argument.valueName == "DEVICE" { place.device = word }
            }
        }
        place.valueName = (option ?? positionals.first)?.valueName
        if option != nil { place.allowsOptions = false }
        return place
    }
}

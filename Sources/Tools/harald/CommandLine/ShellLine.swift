import ArgumentParser

/// The parsing of a line of `harald shell`.
enum ShellLine {
    /// Whether the arguments are those of such a line, rather than of a program.
    @TaskLocal static var isBeingParsed = false

    /// Refuses options that belong to the whole session.
    static func refuse(_ options: [(name: String, isGiven: Bool)]) throws {
        guard isBeingParsed, let first = options.first(where: \.isGiven) else { return }
        throw ValidationError(
            "\(first.name) cannot be given in the shell; give it to `harald shell`, or use the command outside of it"
        )
    }
}

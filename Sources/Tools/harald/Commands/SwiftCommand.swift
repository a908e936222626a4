import ArgumentParser

/// Works on packages that were written for Apple's platforms.
struct SwiftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract:
            "Build, test or run an unmodified package for Apple's platforms with Core Bluetooth.",
        discussion: """
            Neither the package, including its Package.swift, nor the toolchain is modified. The modules that the package needs are \
            built in a scratch directory and passed to the compiler. Code that does not work on Linux, and code that compiles but \
            has no effect, is reported with file and line.

            A package's manifest, Package.swift, is a program. SwiftPM runs it, and those of the packages that it depends on, as this \
            user, also for a check: use packages that you trust.

            Stand-ins are opt-in, because a package may mistake canImport(Combine) for an Apple platform: combine \
            (Combine), os (os, os.log, OSLog), cryptokit (CryptoKit), globals (autoreleasepool, objc_sync_enter, \
            CACurrentMediaTime and more, without an import), or all.

            Examples:
              harald swift check HeartKit
              harald swift test HeartKit --with combine,os

            \(ExitStatus.text())
            """,
        subcommands: [VerbCommand<0>.self, VerbCommand<1>.self, VerbCommand<2>.self, Check.self]
    )

    /// Runs a command of `swift`. The parser needs a type for each, so its number in ``verbs`` is a part of the type.
    struct VerbCommand<let number: Int>: ParsableCommand {
        static var configuration: CommandConfiguration {
            let verb = SwiftCommand.verbs[number]
            return CommandConfiguration(
                commandName: verb.name,
                abstract: verb.abstract,
                discussion: """
                    Example:
                      harald swift \(verb.name) HeartKit -- \(verb.arguments)

                    \(ExitStatus.text())
                    """
            )
        }

        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap(SwiftCommand.verbs[Self.number].name) }
    }

    private static let verbs = [
        (name: "build", abstract: "Build a package.", arguments: "-c release"),
        (name: "test", abstract: "Build a package and run its tests.", arguments: "--filter Parsing"),
        (
            name: "run",
            abstract: "Build a package and run its executable; HARALD_CONTROLLER names its controller.",
            arguments: "--verbose"
        ),
    ]

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Report code that does not work on Linux, without a build.",
            discussion: """
                Needs `swift`, but no checkout of Harald. Fails if there is code that does not compile. The package's Package.swift \
                is run; see `harald swift --help`.

                Examples:
                  harald swift check HeartKit
                  harald swift check HeartKit --json

                \(ExitStatus.text())
                """
        )
        @OptionGroup var options: WrappingOptions
        @OptionGroup var showing: ShowingOptions
        func run() throws { try options.check(ToolReport(json: showing.json)) }
    }
}

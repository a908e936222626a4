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
        subcommands: [Build.self, Test.self, Run.self, Check.self]
    )

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build a package.",
            discussion: """
                Example:
                  harald swift build HeartKit -- -c release

                \(ExitStatus.text())
                """
        )
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("build") }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build a package and run its tests.",
            discussion: """
                Example:
                  harald swift test HeartKit -- --filter Parsing

                \(ExitStatus.text())
                """
        )
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("test") }
    }

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build a package and run its executable; HARALD_CONTROLLER names its controller.",
            discussion: """
                Example:
                  harald swift run HeartKit -- --verbose

                \(ExitStatus.text())
                """
        )
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("run") }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Report what does not work on Linux, without building.",
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

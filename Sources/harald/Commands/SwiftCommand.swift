import ArgumentParser

/// Works on packages that were written for Apple's platforms.
struct SwiftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract:
            "Build, test or run a package that was written for Apple's systems, as it stands, with Core Bluetooth.",
        discussion: """
            The package's Package.swift stays as it is, and so do the package and the toolchain: what it needs besides is \
            built into a scratch directory and put before the compiler. What Linux cannot do, and what would compile and do \
            nothing, is told with file and line.

            Stand-ins are there for who asks, since a package may take canImport(Combine) for an Apple system: combine \
            (Combine), os (os, os.log, OSLog), cryptokit (CryptoKit), globals (autoreleasepool, objc_sync_enter, \
            CACurrentMediaTime and more, without an import), or all.
            """,
        subcommands: [Build.self, Test.self, Run.self, Check.self]
    )

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Build a package.")
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("build") }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Build a package and run its tests.")
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("test") }
    }

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build a package and run its executable; HARALD_CONTROLLER names its controller."
        )
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.wrap("run") }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Tell what Linux cannot do, and build nothing.")
        @OptionGroup var options: WrappingOptions
        func run() throws { try options.check() }
    }
}

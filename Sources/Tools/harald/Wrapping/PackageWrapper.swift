import Foundation

/// Builds, tests, runs or checks a package for Apple's platforms, which is never modified.
package struct PackageWrapper {
    private let path: String
    private let standIns: Set<StandIn>
    private let isAdapted: Bool
    private let iOSPaths: Set<String>
    private let checkout: String?
    private let scratch: String?
    private let output: WrappingOutput

    /// Describes the work. Nothing is read or built yet.
    ///
    /// - Parameters:
    ///   - path: The directory of the package.
    ///   - standIns: The frameworks that it gets substitutes for.
    ///   - isAdapted: Whether to work on a copy without what only Objective-C needs.
    ///   - iOSPaths: The sources, and directories of sources, in which `os(iOS)` is to hold in that copy.
    ///   - checkout: The directory of Harald's package; nil for the one that this tool was built in.
    ///   - scratch: The directory for all build output; nil for one in Harald's package, or else of the user.
    ///   - output: Receives what is printed.
    package init(
        _ path: String,
        standIns: Set<StandIn>,
        isAdapted: Bool,
        iOSPaths: Set<String>,
        checkout: String?,
        scratch: String?,
        output: WrappingOutput
    ) {
        self.path = path
        self.standIns = standIns
        self.isAdapted = isAdapted || !iOSPaths.isEmpty
        self.iOSPaths = iOSPaths
        self.checkout = checkout
        self.scratch = scratch
        self.output = output
    }

    /// Replaces this process by `swift`, with the flags that the package needs.
    ///
    /// - Parameters:
    ///   - verb: The command of `swift`, such as `build`.
    ///   - passed: Further arguments.
    ///   - report: Receives what Linux does differently, before anything is built.
    /// - Returns: The error, because otherwise it does not return.
    package func replaceProcess(
        _ verb: String,
        passing passed: [String],
        _ report: ([SourceFinding]) -> Void
    ) throws(WrappingError) -> WrappingError {
        let home = try HaraldPackage(named: checkout)
        let scratch = scratchDirectory(in: home)
        let wrapped = try wrappedPackage(scratch)
        report(wrapped.findings(standIns))
        let needed = try wrapped.needed(of: standIns, output)
        let flags = try Libraries(home: home, scratch: scratch, needed, output).flags(needed)
        // From here on, swift has the terminal and determines the exit status.
        return Command.replaceProcess(by: wrapped.swift(verb) + flags + passed)
    }

    /// Returns what Linux does differently from Apple's platforms, and builds nothing. Needs no checkout of Harald.
    package func check() throws(WrappingError) -> [SourceFinding] {
        let home = try checkout == nil ? HaraldPackage.ofThisTool() : HaraldPackage(named: checkout)
        let scratch = home.map(scratchDirectory(in:)) ?? ScratchDirectory(path: scratch ?? ScratchDirectory.ofUser())
        return try wrappedPackage(scratch).findings(standIns)
    }

    private func scratchDirectory(in home: HaraldPackage) -> ScratchDirectory {
        ScratchDirectory(path: scratch ?? home.path + "/.build/compatibility")
    }

    /// Returns the package, or its adapted copy.
    private func wrappedPackage(_ scratch: ScratchDirectory) throws(WrappingError) -> WrappedPackage {
        try scratch.prepare()
        let wrapped = try WrappedPackage(path: path, scratch: scratch, isToBeCopied: isAdapted, output)
        return isAdapted ? try wrapped.adapted(forIOS: iOSPaths, output) : wrapped
    }
}

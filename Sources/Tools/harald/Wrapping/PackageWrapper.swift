import Foundation

/// Builds, tests, runs or checks a package for Apple's platforms, which is never modified.
struct PackageWrapper {
    let path: String
    let standIns: Set<StandIn>
    /// Whether to work on a copy without what only Objective-C needs.
    let isAdapted: Bool
    /// The sources, and directories of sources, in which `os(iOS)` is to hold. They need a copy as well.
    let iOSPaths: Set<String>
    /// The directory of Harald's package; nil for the one that this tool was built in.
    let checkout: String?
    /// The directory for all build output; nil for one in Harald's package, or else of the user.
    let scratch: String?
    let output: WrappingOutput

    /// Replaces this process by `swift`, with the flags that the package needs. Returns the error if that fails.
    ///
    /// - Parameter report: Receives what Linux does differently, before anything is built.
    func replaceProcess(
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
    func check() throws(WrappingError) -> [SourceFinding] {
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
        let isCopied = isAdapted || !iOSPaths.isEmpty
        let wrapped = try WrappedPackage(path: path, scratch: scratch, isToBeCopied: isCopied, output)
        return isCopied ? try wrapped.adapted(forIOS: iOSPaths, output) : wrapped
    }
}

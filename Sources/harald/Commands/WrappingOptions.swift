import ArgumentParser
import Foundation
import SourceChecks

/// The options for wrapping a package.
struct WrappingOptions: ParsableArguments {
    @Argument(help: "The directory of the package.")
    var path: String

    @Option(
        name: .customLong("with"),
        help: "Stand-ins, separated by commas: \(StandIn.help).",
        transform: StandIn.list
    )
    var standIns: Set<StandIn> = []

    @Flag(help: "Work on a copy without @objc, and print the differences.")
    var adapt = false

    @Option(
        name: .customLong("harald"),
        help: "The directory of Harald's package (default: the one this tool was built in)."
    )
    var package: String?

    @Option(help: "The directory for all build output (default: .build/compatibility in Harald's package).")
    var scratch: String?

    @Argument(parsing: .postTerminator, help: "After --, the arguments for swift or for the program.")
    var passed: [String] = []

    /// Replaces this process by `swift`, with the flags that the package needs.
    func wrap(_ verb: String) throws {
        do throws(ToolError) {
            let home = try HaraldPackage(named: package)
            let scratch = scratchDirectory(in: home)
            let wrapped = try lookedThrough(home, scratch)
            let flags = try Libraries(home: home, scratch: scratch).flags(standIns)
            // From here on, swift has the terminal and determines the exit status.
            throw Command.replaceProcess(by: wrapped.swift(verb) + flags + passed)
        } catch {
            throw error.report()
        }
    }

    /// Prints the findings, and builds nothing.
    func check() throws {
        do throws(ToolError) {
            let home = try HaraldPackage(named: package)
            _ = try lookedThrough(home, scratchDirectory(in: home))
        } catch {
            throw error.report()
        }
    }

    private func scratchDirectory(in home: HaraldPackage) -> ScratchDirectory {
        ScratchDirectory(path: scratch ?? home.path + "/.build/compatibility")
    }

    /// Returns the package, or its adapted copy, after printing the findings.
    private func lookedThrough(_ home: HaraldPackage, _ scratch: ScratchDirectory) throws(ToolError) -> WrappedPackage {
        var wrapped = try WrappedPackage(path: path, scratch: scratch)
        if adapt { wrapped = try wrapped.adapted() }
        tell(wrapped.findings(standIns, delegates: try home.delegates()))
        return wrapped
    }

    private func tell(_ findings: [SourceFinding]) {
        for finding in findings { Console.problem(finding.description) }
        let errors = findings.count { $0.kind == .error }
        Console.problem(
            "harald: \(errors) places do not work on Linux, \(findings.count - errors) compile but have no effect"
        )
    }
}

/// A substitute for one of Apple's frameworks.
enum StandIn: String, CaseIterable {
    case combine
    case os
    case cryptokit
    case globals

    /// The modules that packages see.
    var modules: [String] {
        switch self {
        case .combine:
            [
                "Combine", "FoundationCombine", "OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation",
                "COpenCombineHelpers",
            ]
        case .os: ["os", "OSLog"]
        case .cryptokit: ["CryptoKit"]
        case .globals: ["HaraldCompatibility"]
        }
    }

    /// The module that every file imports implicitly; nil for none.
    var imported: String? {
        switch self {
        case .combine: "FoundationCombine"
        case .globals: "HaraldCompatibility"
        case .os, .cryptokit: nil
        }
    }

    static let help = allCases.map(\.rawValue).joined(separator: ", ") + ", or all"

    static func list(_ text: String) throws -> Set<StandIn> {
        if text == "all" { return Set(allCases) }
        return Set(
            try text.split(separator: ",").map {
                guard let standIn = StandIn(rawValue: $0.lowercased()) else {
                    throw ValidationError("there is no stand-in \"\($0)\"; available: \(help)")
                }
                return standIn
            }
        )
    }
}

import ArgumentParser

/// The options for wrapping a package.
struct WrappingOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The directory of the package.", valueName: "PACKAGE"), completion: .directory)
    var path: String

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("Stand-ins, separated by commas: \(StandIn.help).", valueName: "STAND-INS"),
        transform: StandIn.list
    )
    var standIns: Set<StandIn> = []

    @Flag(
        help: """
            Work on a copy without what needs Objective-C, dependencies included, and print the differences. Symbolic links must stay \
            within the package.
            """
    )
    var adapt = false

    @Option(
        name: .customLong("ios"),
        help: ArgumentHelp(
            "Sources, or directories of them, separated by commas, in which #if os(iOS) holds. Implies --adapt.",
            valueName: "FILES"
        ),
        completion: .file(extensions: ["swift"])
    )
    var iOSPaths: String?

    @Option(
        name: .customLong("harald"),
        help: ArgumentHelp(
            "The directory of Harald's package (default: the one this tool was built in).",
            valueName: "DIRECTORY"
        ),
        completion: .directory
    )
    var package: String?

    @Option(
        help: ArgumentHelp(
            "The directory for all build output (default: .build/compatibility in Harald's package, or else in the user's cache).",
            valueName: "DIRECTORY"
        ),
        completion: .directory
    )
    var scratch: String?

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("After --, the arguments for swift or for the program.", valueName: "ARGUMENTS")
    )
    var passed: [String] = []

    /// Replaces this process by `swift`, with the flags that the package needs.
    func wrap(_ verb: String) throws {
        do throws(WrappingError) {
            throw try wrapper.replaceProcess(verb, passing: passed, printFindings)
        } catch {
            throw ToolError.wrapping(error).report()
        }
    }

    /// Prints the findings, and builds nothing. Places that do not work make the command fail, for CI.
    func check(_ report: ToolReport) throws {
        let findings: [SourceFinding]
        do throws(WrappingError) {
            findings = try wrapper.check()
        } catch {
            throw ToolError.wrapping(error).report(json: report.isJSON)
        }
        if report.isJSON {
            for finding in findings { report.show(FindingDocument(finding), as: []) }
            report.show(CheckDocument(findings), as: [])
        } else {
            printFindings(findings)
        }
        if findings.contains(where: { $0.kind == .error }) { throw ExitCode.failure }
    }

    private var wrapper: PackageWrapper {
        PackageWrapper(
            path: path,
            standIns: standIns,
            isAdapted: adapt,
            iOSPaths: Set((iOSPaths ?? "").split(separator: ",").map(String.init)),
            checkout: package,
            scratch: scratch,
            output: WrappingOutput(result: { Console.line($0) }, notice: { Console.problem($0) })
        )
    }

    private func printFindings(_ findings: [SourceFinding]) {
        for cause in SourceCause.of(findings) { Console.problem(cause.description) }
        Console.problem("harald: \(CheckDocument(findings).summary)")
    }
}

/// A place in a package where Linux differs from Apple's platforms.
private struct FindingDocument: ReportDocument {
    static let event = "finding"

    let file: String
    let line: Int
    /// `error` for code that does not compile, `warning` for code without effect.
    let severity: String
    let message: String

    init(_ finding: SourceFinding) {
        (file, line, message) = (finding.file, finding.line, finding.message)
        severity = finding.kind.rawValue
    }
}

/// The end of a check.
struct CheckDocument: ReportDocument {
    static let event = "checked"

    let errors: Int
    let warnings: Int

    init(_ findings: [SourceFinding]) {
        errors = findings.count { $0.kind == .error }
        warnings = findings.count - errors
    }

    var summary: String {
        let failing = errors == 1 ? "1 place does" : "\(errors) places do"
        let idle = warnings == 1 ? "1 compiles but has" : "\(warnings) compile but have"
        return "\(failing) not work on Linux, \(idle) no effect"
    }
}

extension StandIn {
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

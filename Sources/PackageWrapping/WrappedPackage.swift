import Foundation
import SourceChecks

/// A package of the user, which is never modified.
struct WrappedPackage {
    private let path: String
    private let scratch: ScratchDirectory
    /// The Swift sources, named by their paths in the package.
    private let sources: [SourceFile]
    private let build: String

    init(path: String, scratch: ScratchDirectory, _ output: WrappingOutput) throws(WrappingError) {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path + "/Package.swift") else {
            throw WrappingError("\(path) has no Package.swift; a project that only Xcode builds needs one first")
        }
        let build = scratch.build(of: path)
        let describe = [
            "swift", "package", "--package-path", path, "--scratch-path", build, "describe", "--type", "json",
        ]
        let description = try Command.output(of: describe, output)
        var sources: [SourceFile] = []
        for name in try Self.names(in: description) {
            sources.append(SourceFile(name: name, text: try TextFile.read(path + "/" + name)))
        }
        self.init(path: path, scratch: scratch, sources: sources, build: build)
    }

    private init(path: String, scratch: ScratchDirectory, sources: [SourceFile], build: String) {
        self.path = path
        self.scratch = scratch
        self.sources = sources
        self.build = build
    }

    /// Returns the first arguments of a `swift` command.
    func swift(_ verb: String) -> [String] {
        ["swift", verb, "--package-path", path, "--scratch-path", build]
    }

    /// Returns what Linux does differently from Apple's platforms.
    func findings(_ standIns: Set<StandIn>) -> [SourceFinding] {
        let modules = Modules(standIns: Set(standIns.map(\.rawValue)))
        return SourceCheck(sources, modules: modules).findings
    }

    /// Copies the package, removes what only Objective-C needs from the copy, and prints the differences.
    func adapted(_ output: WrappingOutput) throws(WrappingError) -> WrappedPackage {
        let copy = scratch.copy(of: path)
        try copyAll(to: copy)
        var adapted: [SourceFile] = []
        for source in sources {
            let adaptation = Adaptation(source)
            adapted.append(adaptation.adapted)
            guard adaptation.hasChanges else { continue }
            for line in adaptation.difference.split(whereSeparator: \.isNewline) { output.result(String(line)) }
            try TextFile.write(adaptation.adapted.text, to: copy + "/" + source.name)
        }
        output.notice("harald: using the copy in \(copy)")
        return WrappedPackage(path: copy, scratch: scratch, sources: adapted, build: build + "-adapted")
    }

    /// Copies everything but `.build` and `.git`.
    private func copyAll(to copy: String) throws(WrappingError) {
        let files = FileManager.default
        do {
            if files.fileExists(atPath: copy) { try files.removeItem(atPath: copy) }
            try files.createDirectory(atPath: copy, withIntermediateDirectories: true)
            for name in try files.contentsOfDirectory(atPath: path) where ![".build", ".git"].contains(name) {
                try files.copyItem(atPath: path + "/" + name, toPath: copy + "/" + name)
            }
        } catch {
            throw WrappingError("cannot copy \(path) to \(copy): \(error.localizedDescription)")
        }
    }

    /// Returns the Swift sources in SwiftPM's description of a package.
    private static func names(in description: Data) throws(WrappingError) -> [String] {
        struct Description: Decodable {
            struct Target: Decodable {
                let path: String
                let sources: [String]
            }
            let targets: [Target]
        }
        do {
            return try JSONDecoder().decode(Description.self, from: description).targets
                .flatMap { target in target.sources.map { "\(target.path)/\($0)" } }
                .filter { $0.hasSuffix(".swift") }
        } catch {
            throw WrappingError("cannot decode swift's description of the package: \(error)")
        }
    }
}

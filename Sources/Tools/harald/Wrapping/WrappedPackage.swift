import Foundation

/// A package of the user, which is never modified.
struct WrappedPackage {
    private let path: String
    private let scratch: ScratchDirectory
    /// The Swift sources, named by their paths in the package.
    private let sources: [SourceFile]
    /// A source in Objective-C of each target that has some.
    private let objectiveC: [String]
    private let build: String
}

extension WrappedPackage {
    /// Reads a package by way of SwiftPM.
    ///
    /// - Parameter isToBeCopied: Whether to refuse first what cannot be copied: SwiftPM would follow its links
    ///   anywhere.
    init(
        path: String,
        scratch: ScratchDirectory,
        isToBeCopied: Bool,
        _ output: WrappingOutput
    ) throws(WrappingError) {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path + "/Package.swift") else {
            throw WrappingError("\(path) has no Package.swift; a project that only Xcode builds needs one first")
        }
        if isToBeCopied { try PackageCopy(of: path, scratch).make() }
        let build = scratch.build(of: path)
        let describe = [
            "swift", "package", "--package-path", path, "--scratch-path", build, "describe", "--type", "json",
        ]
        let description = try Command.output(of: describe, output)
        let targets = try Self.targets(in: description)
        var sources: [SourceFile] = []
        for name in targets.joined() where name.hasSuffix(".swift") {
            sources.append(SourceFile(name: name, text: try TextFile.read(path + "/" + name)))
        }
        let objectiveC = targets.compactMap { $0.first { $0.hasSuffix(".m") || $0.hasSuffix(".mm") } }
        self.init(path: path, scratch: scratch, sources: sources, objectiveC: objectiveC, build: build)
    }

    /// Returns the first arguments of a `swift` command.
    func swift(_ verb: String) -> [String] {
        ["swift", verb, "--package-path", path, "--scratch-path", build]
    }

    func findings(_ standIns: Set<StandIn>) -> [SourceFinding] {
        let modules = Modules(standIns: Set(standIns.map(\.rawValue)))
        let foreign = objectiveC.map {
            SourceFinding(
                file: $0,
                line: 1,
                kind: .error,
                message: "Linux has no Objective-C: leave this target out there, or replace it by one in Swift or C"
            )
        }
        return foreign + SourceCheck(sources, modules: modules).findings
    }

    /// Returns the stand-ins without those that take long to build and that neither the package nor a dependency names.
    func needed(of standIns: Set<StandIn>, _ output: WrappingOutput) throws(WrappingError) -> Set<StandIn> {
        guard standIns.contains(.cryptokit) else { return standIns }
        func names(_ sources: [SourceFile]) -> Bool { sources.contains { $0.text.contains("CryptoKit") } }
        if names(sources) { return standIns }
        for dependency in try PackageDependency.all(of: path, scratch: build, output) {
            if names(try PackageCopy(of: dependency.path, scratch).originals()) { return standIns }
        }
        output.notice("harald: no source names CryptoKit, so its stand-in is not built")
        return standIns.subtracting([.cryptokit])
    }

    /// Copies the package and those it depends on, removes what only Objective-C needs from the copies, and prints the
    /// differences.
    ///
    /// - Parameter paths: The sources, and directories of sources, in which `os(iOS)` is to hold.
    func adapted(forIOS paths: Set<String>, _ output: WrappingOutput) throws(WrappingError) -> WrappedPackage {
        if let path = paths.sorted().first(where: { path in !sources.contains { $0.isAt(path) } }) {
            throw WrappingError("--ios \(path): the package has no such source; name it by its path in the package")
        }
        let dependencies = try PackageDependency.all(of: path, scratch: build, output)
        // A directory is copied before those inside it, which have copies of their own.
        var packages = dependencies.filter(\.isLocal).map(\.path) + [path]
        packages.sort { $0.count < $1.count }
        for package in packages { try PackageCopy(of: package, scratch).make() }
        let adapted = Adaptation.of(sources, forIOS: paths)
        try PackageCopy(of: path, scratch).write(adapted, output)
        let build = self.build + "-adapted"
        try forgetEdits(in: build)
        for dependency in dependencies { try adapt(dependency, for: build, output) }
        output.notice("harald: using the copy in \(scratch.copy(of: path))")
        return WrappedPackage(
            path: scratch.copy(of: path),
            scratch: scratch,
            sources: adapted.map(\.adapted),
            objectiveC: objectiveC,
            build: build
        )
    }

    /// Adapts the copy of a dependency. One that was fetched has a copy only if that changes something, which then
    /// stands in for it.
    private func adapt(
        _ dependency: PackageDependency,
        for build: String,
        _ output: WrappingOutput
    ) throws(WrappingError) {
        let copy = PackageCopy(of: dependency.path, scratch)
        let adapted = Adaptation.of(try copy.originals())
        if dependency.isLocal { return try copy.write(adapted, output) }
        guard adapted.contains(where: \.hasChanges) else { return }
        try copy.make()
        try copy.write(adapted, output)
        let edit = [
            "swift", "package", "--package-path", scratch.copy(of: path), "--scratch-path", build, "edit",
            dependency.identity, "--path", scratch.copy(of: dependency.path),
        ]
        _ = try Command.output(of: edit, output)
    }

    /// Forgets which dependencies had copies in an earlier build.
    private func forgetEdits(in build: String) throws(WrappingError) {
        let state = build + "/workspace-state.json"
        guard FileManager.default.fileExists(atPath: state) else { return }
        do {
            try FileManager.default.removeItem(atPath: state)
        } catch {
            throw WrappingError("cannot remove \(state): \(error.localizedDescription)")
        }
    }

    /// Returns the sources of each target in SwiftPM's description of a package.
    private static func targets(in description: Data) throws(WrappingError) -> [[String]] {
        struct Description: Decodable {
            struct Target: Decodable {
                let path: String
                let sources: [String]
            }
            let targets: [Target]
        }
        do {
            return try JSONDecoder().decode(Description.self, from: description).targets
                .map { target in target.sources.map { "\(target.path)/\($0)" } }
        } catch {
            throw WrappingError("cannot decode swift's description of the package: \(error)")
        }
    }
}

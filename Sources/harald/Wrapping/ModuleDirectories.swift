import Foundation

/// Gives each stand-in a directory of its own with its modules, so that no package sees one that it has not asked for.
///
/// Modules of C lie there by their names, where Clang finds them when it has found none elsewhere: a package that depends on the
/// same C library has its own.
struct ModuleDirectories {
    let home: HaraldPackage
    let scratch: ScratchDirectory
    /// Where the libraries have been built.
    let products: String

    private static let owners = Dictionary(
        uniqueKeysWithValues: StandIn.allCases.flatMap { standIn in standIn.modules.map { ($0, standIn.rawValue) } }
    )

    private func directory(of module: String) -> String {
        "\(scratch.modules)/\(Self.owners[module] ?? "corebluetooth")"
    }

    func make() throws(ToolError) {
        do {
            let files = FileManager.default
            if files.fileExists(atPath: scratch.modules) { try files.removeItem(atPath: scratch.modules) }
            for name in ["corebluetooth"] + StandIn.allCases.map(\.rawValue) {
                try files.createDirectory(atPath: "\(scratch.modules)/\(name)", withIntermediateDirectories: true)
            }
            try linkSwiftModules()
            for folder in try foldersOfMaps() { try linkMap(in: folder) }
        } catch {
            throw .wrapping("the modules cannot be put in \(scratch.modules): \(error.localizedDescription)")
        }
    }

    private func linkSwiftModules() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: products + "/Modules") {
            guard name.hasSuffix(".swiftmodule") else { continue }
            let module = String(name.dropLast(".swiftmodule".count))
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory(of: module))/\(name)",
                withDestinationPath: "\(products)/Modules/\(name)"
            )
        }
    }

    /// Where a target has brought its module map along, and where SwiftPM has made one.
    private func foldersOfMaps() throws -> [String] {
        let files = FileManager.default
        let packages =
            [home.path, home.standIns + "/StandIns"]
            + (try files.contentsOfDirectory(atPath: scratch.libraries + "/checkouts")).sorted()
            .map { "\(scratch.libraries)/checkouts/\($0)" }
        let included = packages.flatMap { package in
            let targets = (try? files.contentsOfDirectory(atPath: package + "/Sources")) ?? []
            return targets.sorted().map { "\(package)/Sources/\($0)/include" }
        }
        let made = try files.contentsOfDirectory(atPath: products).sorted().map { "\(products)/\($0)" }
        return (included + made.filter { $0.hasSuffix(".build") })
            .filter { files.fileExists(atPath: $0 + "/module.modulemap") }
    }

    private func linkMap(in folder: String) throws {
        let files = FileManager.default
        let map = try String(contentsOfFile: folder + "/module.modulemap", encoding: .utf8)
        guard let match = map.firstMatch(of: #/(?m)^\s*(?:framework\s+)?module\s+(\w+)/#) else { return }
        let module = String(match.output.1)
        let place = "\(directory(of: module))/\(module)"
        guard !files.fileExists(atPath: place) else { return }
        if folder.hasSuffix("/include") {
            // Its headers are named from there.
            try files.createSymbolicLink(atPath: place, withDestinationPath: folder)
        } else {
            try files.createDirectory(atPath: place, withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: place + "/module.modulemap",
                withDestinationPath: folder + "/module.modulemap"
            )
        }
    }
}

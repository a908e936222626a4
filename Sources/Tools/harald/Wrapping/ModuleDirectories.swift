import Cryptography
import Foundation

/// Creates a directory of modules for each stand-in, so that a package only sees the stand-ins that it asked for.
///
/// C modules are placed by name, where Clang finds them only if it has found no other. A package that depends on the
/// same C library therefore uses its own.
///
/// The name of the parent directory is a digest of the library. Without library evolution, a module's layouts are
/// compiled into its clients, and SwiftPM does not track modules from outside a package. It does recompile when the
/// command line changes, and the command line contains this name.
struct ModuleDirectories {
    let home: HaraldPackage
    let scratch: ScratchDirectory
    let products: String

    /// A symbolic link to a module, or to the directory of one.
    private struct Link {
        /// The path below the module directory, starting with the stand-in's name.
        let place: String
        let destination: String
    }

    private static let owners = Dictionary(
        uniqueKeysWithValues: StandIn.allCases.flatMap { standIn in standIn.modules.map { ($0, standIn.rawValue) } }
    )

    private func directory(of module: String) -> String { Self.owners[module] ?? "corebluetooth" }

    /// Creates the directories unless they exist, removes those of earlier libraries, and returns their path.
    func make() throws(WrappingError) -> String {
        do {
            let links = try swiftModules() + maps()
            let name = try digest(of: links)
            let files = FileManager.default
            try files.createDirectory(atPath: scratch.modules, withIntermediateDirectories: true)
            for old in try files.contentsOfDirectory(atPath: scratch.modules) where old != name {
                try files.removeItem(atPath: "\(scratch.modules)/\(old)")
            }
            let place = "\(scratch.modules)/\(name)"
            if !files.fileExists(atPath: place) { try make(links, at: place) }
            return place
        } catch {
            throw WrappingError("cannot create the modules in \(scratch.modules): \(error.localizedDescription)")
        }
    }

    /// Creates all links or none: the directory gets its final name last.
    private func make(_ links: [Link], at place: String) throws {
        let files = FileManager.default
        let unfinished = place + "-unfinished"
        for name in ["corebluetooth"] + StandIn.allCases.map(\.rawValue) {
            try files.createDirectory(atPath: "\(unfinished)/\(name)", withIntermediateDirectories: true)
        }
        for link in links {
            let path = "\(unfinished)/\(link.place)"
            let above = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try files.createDirectory(atPath: above, withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: path, withDestinationPath: link.destination)
        }
        try files.moveItem(atPath: unfinished, toPath: place)
    }

    private func swiftModules() throws -> [Link] {
        try FileManager.default.contentsOfDirectory(atPath: products + "/Modules").sorted().compactMap { name in
            guard name.hasSuffix(".swiftmodule") else { return nil }
            let module = String(name.dropLast(".swiftmodule".count))
            return Link(place: "\(directory(of: module))/\(name)", destination: "\(products)/Modules/\(name)")
        }
    }

    /// Returns one link for each C module, to the first module map that declares it.
    private func maps() throws -> [Link] {
        var links: [String: Link] = [:]
        for folder in try foldersOfMaps() {
            let map = try String(contentsOfFile: folder + "/module.modulemap", encoding: .utf8)
            guard let match = map.firstMatch(of: #/(?m)^\s*(?:framework\s+)?module\s+(\w+)/#) else { continue }
            let module = String(match.output.1)
            guard links[module] == nil else { continue }
            let place = "\(directory(of: module))/\(module)"
            // A target's own module map refers to its headers relative to this directory.
            links[module] =
                folder.hasSuffix("/include")
                ? Link(place: place, destination: folder)
                : Link(place: place + "/module.modulemap", destination: folder + "/module.modulemap")
        }
        return links.values.sorted { $0.place < $1.place }
    }

    /// Returns the directories of module maps that targets bring along or that SwiftPM has generated.
    private func foldersOfMaps() throws -> [String] {
        let files = FileManager.default
        let packages =
            [home.path, home.standIns + "/StandIns"]
            + (try files.contentsOfDirectory(atPath: scratch.libraries + "/checkouts")).sorted()
            .map { "\(scratch.libraries)/checkouts/\($0)" }
        let included = packages.flatMap { package in
            let sources = package + "/Sources"
            let folders = ((try? files.contentsOfDirectory(atPath: sources)) ?? []).sorted()
            // Targets, or floors of targets.
            return folders.flatMap { folder in
                let inner = ((try? files.contentsOfDirectory(atPath: "\(sources)/\(folder)")) ?? []).sorted()
                return ["\(sources)/\(folder)/include"] + inner.map { "\(sources)/\(folder)/\($0)/include" }
            }
        }
        let made = try files.contentsOfDirectory(atPath: products).sorted().map { "\(products)/\($0)" }
        return (included + made.filter { $0.hasSuffix(".build") })
            .filter { files.fileExists(atPath: $0 + "/module.modulemap") }
    }

    /// Returns a digest of the library, its modules and its headers.
    private func digest(of links: [Link]) throws -> String {
        var parts: [UInt8] = []
        func add(_ path: String, as name: String) throws {
            let content = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
            parts += "\(name)\n\(path)\n".utf8
            parts += content.withUnsafeBytes { SHA256Digest.of($0) }
        }
        try add(Libraries.file(in: products), as: "library")
        for link in links {
            for file in try files(at: link.destination) { try add(file, as: link.place) }
        }
        return SHA256Digest.of(parts).prefix(8).map { String(format: "%02x", $0) }.joined()
    }

    /// Returns the file at `path`, or all files below the directory.
    private func files(at path: String) throws -> [String] {
        var isDirectory: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        guard isDirectory.boolValue else { return [path] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap {
            try files(at: "\(path)/\($0)")
        }
    }
}

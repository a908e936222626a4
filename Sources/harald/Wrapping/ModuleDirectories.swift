import Crypto
import Foundation

/// Gives each stand-in a directory of its own with its modules, so that no package sees one that it has not asked for.
///
/// Modules of C lie there by their names, where Clang finds them when it has found none elsewhere: a package that depends on the
/// same C library has its own.
///
/// All of them lie in a directory that is named by what is in the library. Modules without library evolution have their layouts
/// in whatever is compiled against them, and SwiftPM does not look at modules from elsewhere: it compiles again only what has
/// another command line, which has this name in it.
struct ModuleDirectories {
    let home: HaraldPackage
    let scratch: ScratchDirectory
    /// Where the libraries have been built.
    let products: String

    /// A module, or the directory of one.
    private struct Link {
        /// Where it lies among the modules: the stand-in's name first.
        let place: String
        let destination: String
    }

    private static let owners = Dictionary(
        uniqueKeysWithValues: StandIn.allCases.flatMap { standIn in standIn.modules.map { ($0, standIn.rawValue) } }
    )

    private func directory(of module: String) -> String { Self.owners[module] ?? "corebluetooth" }

    /// Makes them, unless they are there, takes away those of an earlier library, and says where they are.
    func make() throws(ToolError) -> String {
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
            throw .wrapping("the modules cannot be put in \(scratch.modules): \(error.localizedDescription)")
        }
    }

    /// All of them or none: they get their name when they are there.
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

    /// One for each module of C, the first that there is.
    private func maps() throws -> [Link] {
        var links: [String: Link] = [:]
        for folder in try foldersOfMaps() {
            let map = try String(contentsOfFile: folder + "/module.modulemap", encoding: .utf8)
            guard let match = map.firstMatch(of: #/(?m)^\s*(?:framework\s+)?module\s+(\w+)/#) else { continue }
            let module = String(match.output.1)
            guard links[module] == nil else { continue }
            let place = "\(directory(of: module))/\(module)"
            // The headers of a target's own map are named from there.
            links[module] =
                folder.hasSuffix("/include")
                ? Link(place: place, destination: folder)
                : Link(place: place + "/module.modulemap", destination: folder + "/module.modulemap")
        }
        return links.values.sorted { $0.place < $1.place }
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

    /// What the library is: its octets, and those of its modules and headers.
    private func digest(of links: [Link]) throws -> String {
        var hash = SHA256()
        func add(_ path: String, as name: String) throws {
            let content = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
            hash.update(data: Data("\(name)\n\(path)\n".utf8))
            hash.update(data: Data(SHA256.hash(data: content)))
        }
        try add(Libraries.file(in: products), as: "library")
        for link in links {
            for file in try files(at: link.destination) { try add(file, as: link.place) }
        }
        return hash.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
    }

    /// The file of this name, or all that are below the directory.
    private func files(at path: String) throws -> [String] {
        var isDirectory: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        guard isDirectory.boolValue else { return [path] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap {
            try files(at: "\(path)/\($0)")
        }
    }
}

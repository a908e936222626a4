import Foundation
import SourceChecks

/// The copy of a package, which can be changed where the package cannot.
struct PackageCopy {
    private let path: String
    private let copy: String

    init(of path: String, _ scratch: ScratchDirectory) {
        self.path = path
        copy = scratch.copy(of: path)
    }

    /// Copies everything but `.build` and `.git`.
    func make() throws(WrappingError) {
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

    /// Returns the Swift sources of the package, without its tests and examples.
    func originals() throws(WrappingError) -> [SourceFile] {
        let left: Set<String> = [".build", ".git", "Tests", "Examples", "Example"]
        let files = FileManager.default.enumerator(atPath: path)
        var sources: [SourceFile] = []
        while let name = files?.nextObject() as? String {
            if left.contains(name) { files?.skipDescendants() }
            guard name.hasSuffix(".swift"), name != "Package.swift", !name.hasPrefix("Package@") else { continue }
            sources.append(SourceFile(name: name, text: try TextFile.read(path + "/" + name)))
        }
        return sources.sorted { $0.name < $1.name }
    }

    /// Writes the changed sources and prints the differences.
    func write(_ adapted: [Adaptation], _ output: WrappingOutput) throws(WrappingError) {
        for adaptation in adapted where adaptation.hasChanges {
            for line in adaptation.difference.split(whereSeparator: \.isNewline) { output.result(String(line)) }
            try TextFile.write(adaptation.adapted.text, to: copy + "/" + adaptation.adapted.name)
        }
    }
}

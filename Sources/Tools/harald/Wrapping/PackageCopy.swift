import Foundation

/// The copy of a package, which can be changed where the package cannot.
struct PackageCopy {
    private let path: String
    private let copy: String
    private let scratch: ScratchDirectory

    init(of path: String, _ scratch: ScratchDirectory) {
        (self.path, self.scratch) = (path, scratch)
        copy = scratch.copy(of: path)
    }

    /// Copies everything but `.build` and `.git`, in place of an earlier copy.
    func make() throws(WrappingError) {
        try scratch.makeRoom(for: copy)
        var tree = try TreeCopy(of: path, to: copy, without: [".build", ".git"], apart: scratch.path)
        try tree.make()
    }

    /// Returns the Swift sources of the package, without its tests and examples.
    func originals() throws(WrappingError) -> [SourceFile] {
        let left: Set<String> = [".build", ".git", "Tests", "Examples", "Example"]
        let files = FileManager.default.enumerator(atPath: path)
        var sources: [SourceFile] = []
        while let name = files?.nextObject() as? String {
            if left.contains(name) { files?.skipDescendants() }
            guard name.hasSuffix(".swift"), name != "Package.swift", !name.hasPrefix("Package@") else { continue }
            guard files?.fileAttributes?[.type] as? FileAttributeType != .typeDirectory else { continue }
            sources.append(SourceFile(name: name, text: try TextFile.read(path + "/" + name)))
        }
        return sources.sorted { $0.name < $1.name }
    }

    /// Writes the changed sources and prints the differences. The copy has no links, and its files are written anew.
    func write(_ adapted: [Adaptation], _ output: WrappingOutput) throws(WrappingError) {
        for adaptation in adapted where adaptation.hasChanges {
            let name = adaptation.adapted.name
            guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
                throw WrappingError("the source \(name) is not within the package")
            }
            for line in adaptation.difference.split(whereSeparator: \.isNewline) { output.result(String(line)) }
            try TextFile.write(adaptation.adapted.text, to: copy + "/" + name)
        }
    }
}

import Foundation

/// The report of a failure in a world that has ended, such as one of a search: texts for the log, and files to keep.
struct WorldExplanation: Sendable {
    let comments: [String]
    let files: [WorldFile]

    /// The contents of an explanation in a directory.
    private struct Index: Codable {
        let comments: [String]
        let files: [String]
    }

    private static let index = "index.json"

    /// Writes the explanation into a directory, for another process.
    func write(to directory: URL) throws {
        try WorldFile.write(files, to: directory)
        let index = Index(comments: comments, files: files.map(\.name))
        try JSONEncoder().encode(index).write(to: directory.appending(path: Self.index))
    }
}

extension WorldExplanation {
    init(from directory: URL) throws {
        let data = try Data(contentsOf: directory.appending(path: Self.index))
        let index = try JSONDecoder().decode(Index.self, from: data)
        comments = index.comments
        files = try index.files.map { name in
            WorldFile(name: name, octets: [UInt8](try Data(contentsOf: directory.appending(path: name))))
        }
    }
}

extension WorldFile {
    static func write(_ files: [WorldFile], to directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for file in files { try Data(file.octets).write(to: directory.appending(path: file.name)) }
    }
}

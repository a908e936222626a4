import ArgumentParser
import Foundation

/// Plants the mutants of a list of files, for `Mutation/run`.
@main struct HaraldMutation: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "HaraldMutation",
        abstract: "Writes sources with all their mutants behind a switch, and a list of them in JSON."
    )

    @Option(help: "The root of the sources that are read.") var from: String
    @Option(help: "The root of the copy that is written.") var to: String
    @Option(help: "Where the list of mutants is written.") var list: String
    @Option(help: "A file with the keys of mutants that are left out, one a line.") var without: String?
    @Option(parsing: .upToNextOption, help: "The files to plant mutants in; all files if none is given.")
    var plant: [String] = []
    @Argument(help: "Files, by their path below the root. The position of a file numbers its mutants.")
    var files: [String]

    func run() throws {
        let left = try without.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        var planting = Planting(without: Set(left.split(separator: "\n").map(String.init)))
        for (index, file) in files.enumerated() where plant.isEmpty || plant.contains(file) {
            let source = try String(contentsOfFile: "\(from)/\(file)", encoding: .utf8)
            try write(planting.plant(source, file: file, position: index + 1), to: "\(to)/\(file)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(planting.mutants).write(to: URL(fileURLWithPath: list))
    }

    /// Leaves unchanged files alone, so that they are not recompiled.
    private func write(_ text: String, to path: String) throws {
        guard (try? String(contentsOfFile: path, encoding: .utf8)) != text else { return }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}

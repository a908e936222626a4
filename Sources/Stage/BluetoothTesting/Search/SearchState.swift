import Foundation

/// The file that a search continues from: a line for each world that has ended.
struct SearchState {
    private struct Header: Codable, Equatable {
        /// The test program, by its size and date: another one may behave differently.
        let program: String
        let test: String
        let steps: Int
    }

    private struct Line: Codable {
        var header: Header?
        var seed: UInt64?
        var finding: SearchFinding?
    }

    private let file: FileHandle?
    private(set) var done: Set<UInt64> = []
    private(set) var findings: [SearchFinding] = []

    /// Opens a file, which need not exist. A file of another program is begun anew.
    init(_ url: URL?, test: String, steps: Int) throws {
        guard let url else {
            file = nil
            return
        }
        let header = Header(program: Self.program, test: test, steps: steps)
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        // A line that was cut off when the process ended is of no use.
        let lines = text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        let continues = lines.first?.header == header
        if !continues { try Data().write(to: url) }
        file = try FileHandle(forWritingTo: url)
        try file?.seekToEnd()
        guard continues else {
            add(Line(header: header))
            return
        }
        if !text.hasSuffix("\n") { file?.write(Data("\n".utf8)) }
        done = Set(lines.compactMap(\.seed))
        findings = lines.compactMap(\.finding)
    }

    private static var program: String {
        let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let values = try? FileManager.default.attributesOfItem(atPath: path)
        let date = (values?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return "\(values?[.size] ?? 0) \(date)"
    }

    private func add(_ line: Line) {
        guard let file, let json = try? JSONEncoder().encode(line) else { return }
        file.write(json + Data("\n".utf8))
    }

    func add(seed: UInt64) { add(Line(seed: seed)) }
    func add(_ finding: SearchFinding) { add(Line(finding: finding)) }
}

/// A failure that a search has found.
struct SearchFinding: Codable, Hashable, Sendable {
    let seed: UInt64
    let fault: SearchFault
    /// The shortest list of steps that fails in the same way.
    let steps: [SearchStep]
    let drawn: Int

    /// The code that repeats the failure, to paste beside the search.
    func test(isXCTest: Bool) -> String {
        let head = isXCTest ? "func testSeed\(seed)() async {" : "@Test(.world) func seed\(seed)() async {"
        let lines = steps.map { "        \($0.code)," }
        let list = steps.isEmpty ? "[]" : "[\n\(lines.joined(separator: "\n"))\n    ]"
        return "\(head)\n    await world.replay(seed: \(seed), \(list), of: scenario)\n}"
    }
}

/// The report of a search, as a file in JSON.
struct SearchReport: Codable, Sendable {
    struct Found: Codable, Sendable {
        let seed: UInt64
        let check: String
        let text: String
        let steps: [String]
        let test: String
    }

    let test: String
    let shard: String
    let seeds: [UInt64]
    /// The number of worlds, including those of earlier runs that the search continues.
    let worlds: Int
    /// Whether all seeds of the shard were searched.
    let isComplete: Bool
    let found: [Found]
}

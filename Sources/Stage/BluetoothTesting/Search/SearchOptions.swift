import Foundation

/// The settings of a search: those of the test, which the environment overrides.
struct SearchOptions: Sendable {
    /// The environment variables that a search reads.
    enum Variable: String, CaseIterable {
        case seeds = "HARALD_SEARCH_SEEDS"
        case steps = "HARALD_SEARCH_STEPS"
        case seconds = "HARALD_SEARCH_SECONDS"
        case limit = "HARALD_SEARCH_LIMIT"
        case shard = "HARALD_SEARCH_SHARD"
        case workers = "HARALD_SEARCH_WORKERS"
        case state = "HARALD_SEARCH_STATE"
        case json = "HARALD_SEARCH_JSON"
        case stories = "HARALD_SEARCH_STORIES"
        case progress = "HARALD_SEARCH_PROGRESS"
    }

    /// The part of the seeds that one process searches: `3/20` is the third of twenty parts.
    struct Shard: Equatable {
        var number = 1
        var count = 1

        init() {}

        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let number = parts[0], let count = parts[1], number >= 1, number <= count else {
                return nil
            }
            (self.number, self.count) = (number, count)
        }
    }

    var seeds: ClosedRange<UInt64>
    var steps: Int
    /// The time of the machine after which no new world is begun.
    var budget: Duration?
    /// The time of the machine after which the process of a world is ended.
    var limit: Duration?
    var shard = Shard()
    /// The number of processes; 0 to run all worlds in this one.
    var workers = max(1, ProcessInfo.processInfo.activeProcessorCount)
    var state: URL?
    var json: URL?
    var stories: URL?
    /// Whether to print a line of progress from time to time.
    var showsProgress = false

    init(seeds: ClosedRange<UInt64>, steps: Int, budget: Duration?) {
        (self.seeds, self.steps, self.budget) = (seeds, steps, budget)
    }

    mutating func adopt(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(SearchError) {
        if let seed = environment[WorldSeed.variable].flatMap({ UInt64($0) }) { seeds = seed...seed }
        for variable in Variable.allCases {
            guard let text = environment[variable.rawValue], !text.isEmpty else { continue }
            guard adopt(variable, text) else { throw .setting(variable.rawValue, text) }
        }
    }

    private mutating func adopt(_ variable: Variable, _ text: String) -> Bool {
        switch variable {
        case .seeds: return set(&seeds, Self.range(text))
        case .steps: return set(&steps, Int(text).flatMap { $0 >= 0 ? $0 : nil })
        case .seconds: return set(&budget, Self.seconds(text))
        case .limit: return set(&limit, Self.seconds(text))
        case .shard: return set(&shard, Shard(text))
        case .workers: return set(&workers, Int(text).flatMap { (0...1_024).contains($0) ? $0 : nil })
        case .state: state = URL(filePath: text)
        case .json: json = URL(filePath: text)
        case .stories: stories = URL(filePath: text, directoryHint: .isDirectory)
        case .progress: showsProgress = text != "0"
        }
        return true
    }

    private func set<Value>(_ property: inout Value, _ value: Value?) -> Bool {
        guard let value else { return false }
        property = value
        return true
    }

    private static func seconds(_ text: String) -> Duration? {
        Int(text).flatMap { $0 > 0 ? .seconds($0) : nil }
    }

    private static func range(_ text: String) -> ClosedRange<UInt64>? {
        let ends = text.replacing("...", with: "-").split(separator: "-").map { UInt64($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else {
            return nil
        }
        return first...last
    }

    /// The seeds of the shard.
    var chosen: [UInt64] {
        seeds.filter { ($0 - seeds.lowerBound) % UInt64(shard.count) == UInt64(shard.number - 1) }
    }
}

/// An error of the search itself.
enum SearchError: Error, CustomStringConvertible {
    case setting(_ variable: String, _ text: String)
    case worker(String)

    var description: String {
        switch self {
        case .setting(let variable, let text): "\(variable) has a value that a search does not understand: \(text)"
        case .worker(let text): "a process of the search cannot run: \(text)"
        }
    }
}

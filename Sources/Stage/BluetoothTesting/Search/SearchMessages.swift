import Dispatch
import Foundation

/// A request to a process of a search, as a line of its standard input.
struct SearchRequest: Codable, Sendable {
    var seed: UInt64
    var count: Int
    /// The steps, in place of drawn ones.
    var steps: [SearchStep]?
    /// The directory for the explanation of the failure.
    var explanation: String?
    /// The directory for the whole story, with digests of the packets.
    var stories: String?
}

/// A message of a process of a search, as a line of its standard output that begins with a mark.
enum SearchReply: Codable, Sendable {
    /// The steps, before the first of them.
    case begun([SearchStep])
    case ended([SearchFault])

    /// Tells messages from what the tests print.
    static let mark = "\u{1}harald-search "
}

/// The outcome of a world.
struct SearchOutcome: Sendable {
    var steps: [SearchStep]
    var faults: [SearchFault]
}

extension SearchRequest {
    func run(
        like world: TestWorld,
        _ setup: @escaping SearchRun.Setup,
        begun: @escaping @Sendable ([SearchStep]) -> Void
    ) async -> [SearchFault] {
        let run = SearchRun(seed: seed, like: world, keepsCaptures: keepsCaptures(world))
        var faults = await run.faults(steps.map { .these($0) } ?? .drawn(count), setup, drawn: begun)
        if let stories {
            let file = URL(filePath: stories).appending(path: "\(seed).txt")
            do {
                try Data(FailureReport(world: run.world).comparableStory.utf8).write(to: file)
            } catch {
                faults.append(SearchFault(check: "the story is written", text: "\(error)"))
            }
        }
        if let explanation {
            try? run.explanation?.write(to: URL(filePath: explanation, directoryHint: .isDirectory))
        }
        return faults
    }

    private func keepsCaptures(_ world: TestWorld) -> Bool {
        stories != nil || explanation != nil && world.recordings != nil
    }
}

/// The other end of the messages: a process that runs one world after another.
enum SearchWorker {
    /// The environment variable that makes a test process one of a search.
    static let variable = "HARALD_SEARCH_WORKER"

    private static let queue = DispatchQueue(label: "the requests of a search")

    static var isWorker: Bool { ProcessInfo.processInfo.environment[variable] != nil }

    static func serve(_ world: TestWorld, _ setup: @escaping SearchRun.Setup) async {
        while let line = await nextLine() {
            guard let request = try? JSONDecoder().decode(SearchRequest.self, from: Data(line.utf8)) else { return }
            let faults = await request.run(like: world, setup) { send(.begun($0)) }
            send(.ended(faults))
        }
    }

    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            // Reading blocks a thread, which must not be one of the pool that runs tasks.
            queue.async { continuation.resume(returning: readLine()) }
        }
    }

    private static func send(_ reply: SearchReply) {
        guard let json = try? JSONEncoder().encode(reply) else { return }
        FileHandle.standardOutput.write(Data("\n\(SearchReply.mark)".utf8) + json + Data("\n".utf8))
    }
}

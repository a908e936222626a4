import Foundation
import Testing

@testable import BluetoothTesting

/// Whether a run depends on its seed alone. Races/determinism compares runs on one core, on all cores, on a busy
/// machine, and under ThreadSanitizer.
@Suite struct SeededLivesTests {
    private static let steps = 24

    @Test(
        "whatever happens to apps whose processes end at any time and on any thread, nothing is left over",
        .world(appTime: .machine, keepsCaptures: false)
    )
    func livesAreSearched() async {
        await world.search(seeds: 1...2, steps: Self.steps, of: SeededLives.scenario)
    }

    @Test(
        "a seed determines the story and all packets, under any load, even if processes of apps end at any time",
        .world(appTime: .machine, keepsCaptures: false)
    )
    func oneSeedGivesOneStory() async throws {
        let (first, second) = (try await Self.stories(world), try await Self.stories(world))
        #expect(first.count == 2)
        #expect(first == second)
        for story in first {
            #expect(story.contains("Phone 0, collector 0: launched by the person"))
            #expect(story.contains("\nair.pcapng: "))
        }
    }

    /// Runs two worlds in this process, and returns their stories.
    private static func stories(_ world: TestWorld) async throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        var options = SearchOptions(seeds: 1...2, steps: steps, budget: nil)
        (options.workers, options.stories) = (0, directory)
        let found = try await WorldSearch(world, options, SeededLives.scenario).run()
        #expect(found.isEmpty)
        return try options.seeds.map { try String(contentsOf: directory.appending(path: "\($0).txt"), encoding: .utf8) }
    }
}

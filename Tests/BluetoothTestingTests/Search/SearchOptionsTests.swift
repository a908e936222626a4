import Foundation
import Testing

@testable import BluetoothTesting

@Suite struct SearchOptionsTests {
    private static func adopted(_ environment: [String: String]) throws -> SearchOptions {
        var options = SearchOptions(seeds: 1...10, steps: 20, budget: nil)
        try options.adopt(environment)
        return options
    }

    @Test("the environment overrides the settings of the test")
    func theEnvironmentCounts() throws {
        let options = try Self.adopted([
            "HARALD_SEARCH_SEEDS": "5-9", "HARALD_SEARCH_STEPS": "3", "HARALD_SEARCH_SECONDS": "60",
            "HARALD_SEARCH_LIMIT": "300", "HARALD_SEARCH_WORKERS": "0", "HARALD_SEARCH_STATE": "/tmp/state",
        ])
        #expect(options.seeds == 5...9)
        #expect(options.steps == 3)
        #expect(options.budget == .seconds(60))
        #expect(options.limit == .seconds(300))
        #expect(options.workers == 0)
        #expect(options.state?.path == "/tmp/state")
    }

    @Test("HARALD_SEED chooses one seed")
    func oneSeed() throws {
        #expect(try Self.adopted(["HARALD_SEED": "7"]).chosen == [7])
    }

    @Test("the shards of a search have each seed once")
    func shards() throws {
        let shards = try (1...3).map { try Self.adopted(["HARALD_SEARCH_SHARD": "\($0)/3"]).chosen }
        #expect(shards.first == [1, 4, 7, 10])
        #expect(shards.joined().sorted() == Array(1...10))
    }

    @Test("settings that make no sense are refused", arguments: ["0/3", "4/3", "3", "a/b", "1/2/3"])
    func badSettings(shard: String) {
        #expect(throws: SearchError.self) { try Self.adopted(["HARALD_SEARCH_SHARD": shard]) }
        #expect(throws: SearchError.self) { try Self.adopted(["HARALD_SEARCH_SEEDS": "9-5"]) }
    }
}

@Suite struct SearchStateTests {
    private static func file() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "search-\(UUID().uuidString)")
    }

    @Test("a search continues where it ended, even if its last line was cut off")
    func continues() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        let finding = SearchFinding(
            seed: 4,
            fault: SearchFault(check: "a", text: "b"),
            steps: [.fault(.crash, "Phone", app: "app"), .step("send", 3)],
            drawn: 20
        )
        let first = try SearchState(file, test: "test", steps: 20)
        for seed in [1, 2, 4] as [UInt64] { first.add(seed: seed) }
        first.add(finding)
        try (String(contentsOf: file, encoding: .utf8) + "{\"seed\":").write(
            to: file,
            atomically: true,
            encoding: .utf8
        )
        let second = try SearchState(file, test: "test", steps: 20)
        #expect(second.done == [1, 2, 4])
        #expect(second.findings == [finding])
        second.add(seed: 5)
        #expect(try SearchState(file, test: "test", steps: 20).done == [1, 2, 4, 5])
    }

    @Test("the file of another search is begun anew")
    func resetsCounts() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        try SearchState(file, test: "test", steps: 20).add(seed: 1)
        #expect(try SearchState(file, test: "test", steps: 21).done.isEmpty)
    }

    @Test("a finding is a test to paste")
    func pastes() {
        let finding = SearchFinding(
            seed: 4,
            fault: SearchFault(check: "a", text: "b"),
            steps: [.wait(milliseconds: 5), .fault(.losePackets, "Phone \"1\"", 30), .step("send")],
            drawn: 20
        )
        let text = """
            @Test(.world) func seed4() async {
                await world.replay(seed: 4, [
                    .wait(milliseconds: 5),
                    .fault(.losePackets, "Phone \\"1\\"", 30),
                    .step("send"),
                ], of: scenario)
            }
            """
        #expect(finding.test(isXCTest: false) == text)
    }
}

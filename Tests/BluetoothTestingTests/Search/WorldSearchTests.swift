import Accessories
import Foundation
import Synchronization
import Testing

@testable import BluetoothTesting

/// Searches, among them the project's own. `Scripts/search` runs more of that.
@Suite(.enabled(if: VirtualAppTime.isSupported)) struct WorldSearchTests {
    @Test("whatever happens to a sensor and a phone, they work together in the end, and nothing is left over", .world)
    func theProjectIsSearched() async {
        await world.search(seeds: 1...30, steps: 20, of: sensorAndPhone)
    }

    @Test(
        "a defect is found, and its steps are reduced to those that show it",
        .gathers(Self.isReduced),
        .world(seed: 99)
    )
    func aDefect() async {
        await world.search(seeds: 1...20, of: Self.scenario { #expect($0 < 3) })
        guard !SearchWorker.isWorker else { return }
        let names = world.filesOfOthers.map(\.name)
        // Two worlds run at a time, and either may fail first.
        let files = ["story.txt", "Phone.btsnoop", "air.pcapng"]
        #expect((1...20).contains { seed in names == files.map { "aDefect-seed-\(seed)-\($0)" } }, "\(names)")
    }

    @Sendable private static func isReduced(_ issues: [GatheredIssue]) {
        // In a process of the search there is none.
        guard !SearchWorker.isWorker else { return }
        #expect(issues.count == 1)
        let (text, comments) = (issues.first?.text ?? "", issues.first?.comments ?? [])
        let seeds = (1...20).filter { text.contains("seed \($0): ") }
        let filter = "swift test --filter 'BluetoothTestingTests.WorldSearchTests/aDefect'"
        #expect(seeds.map { "seed \($0); to repeat: HARALD_SEED=\($0) \(filter)" } == [comments.dropFirst().first])
        #expect(comments.contains { $0.hasPrefix("the story") && $0.contains("\n00:00.000 Phone: is switched on") })
        #expect(!text.contains("is empty"))
        #expect(text.contains("an expectation"))
        #expect(text.contains("3 of 20 steps are enough"))
        #expect(text.contains("await world.replay(seed: "))
        #expect(text.components(separatedBy: ".step(\"count\"").count == 4)
        #expect(text.contains("Phone: is switched on"))
    }

    @Test("code that traps is found in a process of its own", .gathers(Self.isFound), .world)
    func aTrap() async {
        await world.search(seeds: 1...20, of: Self.scenario { precondition($0 < 2, "two are too many") })
    }

    @Sendable private static func isFound(_ issues: [GatheredIssue]) {
        guard !SearchWorker.isWorker else { return }
        #expect(issues.count == 1)
        let text = issues.first?.text ?? ""
        #expect(text.contains("the process survives: it was ended by signal"))
        #expect(text.contains("two are too many"))
        #expect(issues.first?.comments.last == "the process ended, so the world has no story")
        #expect(text.contains("2 of 20 steps are enough"))
    }

    @Test("worlds that do not end are given up one by one, with their seeds", .world)
    func anEndlessWorld() async throws {
        let scenario = Self.scenario { _ in while true { sleep(1_000) } }
        if SearchWorker.isWorker { return await SearchWorker.serve(world, scenario) }
        var options = SearchOptions(seeds: 1...2, steps: 5, budget: nil)
        (options.workers, options.limit) = (1, .seconds(1))
        let found = try await WorldSearch(world, options, scenario).run()
        #expect(found.count == 2)
        for (seed, (text, explanation)) in zip(1...2, found.map { ($0.text, $0.explanation) }) {
            let line = "seed \(seed): the world ends: its process was ended after 1 s of the machine's time"
            #expect(text.hasPrefix(line))
            #expect(explanation.files.isEmpty)
        }
    }

    @Test("a list of steps is replayed, with the story of its world", .gathers(Self.isReplayed), .world)
    func aReplay() async {
        let scenario = Self.scenario { #expect($0 < 2) }
        #expect(await world.replay(seed: 3, [.step("count")], of: scenario))
        let steps: [SearchStep] = [.step("count"), .wait(milliseconds: 5), .step("count")]
        let holds = await world.replay(seed: 3, steps, of: scenario)
        #expect(!holds)
    }

    @Sendable private static func isReplayed(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        #expect(issues.first?.text.contains("Phone: is switched on") == true)
        #expect(issues.first?.comments.dropFirst().first?.hasPrefix("seed 3; to repeat: HARALD_SEED=3 ") == true)
    }

    @Test("the same seed draws the same steps, and only installed apps end", .world)
    func theDraw() async throws {
        let pair = SearchedPair(in: world)
        await world.run(for: .seconds(1))
        let places = SearchSurroundings(world).places
        #expect(places.map(\.device) == ["Strap", "Phone"])
        #expect(places.map(\.installed) == [["sensor"], ["collector"]])
        let draw = StepDraw(Scenario(), places)
        #expect(draw.steps(50, seed: 1) == draw.steps(50, seed: 1))
        #expect(draw.steps(50, seed: 1) != draw.steps(50, seed: 2))
        pair.phone.launch("other") { _ in }
        let codes = StepDraw(Scenario(), SearchSurroundings(world).places).steps(2_000, seed: 1).map(\.code)
        #expect(!codes.contains { $0.contains("other") })
        #expect(!codes.contains(".fault(.restart, \"Phone\")"))
        #expect(codes.contains(".fault(.restart, \"Strap\")"))
    }

    @Test("faults that accessory files have as well are those of accessory files")
    func sharedFaults() {
        #expect(SearchStep.Fault.answerLate.deviceFault(12_345)?.fault == DeviceFault(.slowAnswers, 12.345))
        #expect(SearchStep.Fault.losePackets.deviceFault(30)?.fault == DeviceFault(.lossy, 0.3))
        #expect(SearchStep.Fault.losePackets.deviceFault(0)?.begins == false)
        let shared = Set(SearchStep.Fault.allCases.compactMap { $0.deviceFault(1)?.fault.kind })
        // What needs an accessory or a user, beside the jammed channel and what restarts opened apps.
        let others: Set<DeviceFault.Kind> = [
            .jammedChannel, .lowBattery, .batteryReplaced, .reboot, .factoryReset, .newFirmware, .notificationFlood,
            .parameterFlood, .userDeclines, .appUpgraded,
        ]
        #expect(shared == Set(DeviceFault.Kind.allCases).subtracting(others))
    }

    @Test("rare faults are in no other set, and are drawn from theirs", .world)
    func rareFaults() async {
        _ = SearchedPair(in: world)
        let places = SearchSurroundings(world).places
        #expect(Set<SearchStep.Fault>.rare.isDisjoint(with: .recoverable))
        let codes = StepDraw(Scenario(faults: .rare), places).steps(200, seed: 1).map(\.code)
        #expect(codes.contains(".fault(.refuseMTU, \"Strap\")"))
    }

    @Test("after all faults have ended, devices work again", .world)
    func mending() async {
        let pair = SearchedPair(in: world)
        let surroundings = SearchSurroundings(world)
        await world.run(for: .seconds(10))
        for fault in SearchStep.Fault.allCases where fault != .forgetPeers && !fault.isOfApp {
            surroundings.perform(fault, "Strap", app: nil, 50)
            await world.run(for: .seconds(1))
        }
        surroundings.perform(.forceQuit, "Phone", app: "collector", 0)
        surroundings.repair()
        await world.until(within: .seconds(60)) { pair.isReady }
    }

    /// A phone, and a step that counts its calls.
    static func scenario(
        _ check: @escaping @Sendable (Int) -> Void
    ) -> @Sendable (TestWorld) async -> Scenario {
        { world in
            world.addDevice(named: "Phone")
            let count = Count()
            return Scenario(faults: .radio).step("count") { _ in check(count.increase()) }
        }
    }
}

private final class Count: Sendable {
    private let value = Mutex(0)

    func increase() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}

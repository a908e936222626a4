import Administration
import BluetoothService
import EventLoops
import Synchronization
import Testing

/// A condition that did not hold in a searched world.
struct SearchFault: Hashable, Codable, Sendable {
    /// The name of the condition. A shorter list of steps has to violate the same one.
    let check: String
    let text: String
    var time = ""

    private static let end = "the world ends"

    /// The fault of a world whose process was ended.
    static func endless(_ limit: Duration) -> SearchFault {
        SearchFault(check: end, text: "its process was ended after \(WorldTime.words(limit)) of the machine's time")
    }

    /// Whether the world did not end in time. Running it again would take as long.
    var isEndless: Bool { check == Self.end }
}

/// One world of a search: the scenario with one seed and a list of steps.
final class SearchRun: Sendable {
    typealias Setup = @Sendable (TestWorld) async throws -> Scenario

    /// The number of faults of which the text is kept.
    private static let maximumFaults = 8
    /// The time for which a world rests before its end, so that nothing is on its way.
    private static let rest = Duration.seconds(10)

    /// The time after a fault until apps know of it.
    private static let notice = Duration.milliseconds(1)

    let world: TestWorld
    private let surroundings: SearchSurroundings
    private let ledger: SystemLedger
    private let issues: ReportedFaults
    private let found = Mutex<[SearchFault]>([])
    private let explained = Mutex<WorldExplanation?>(nil)

    init(seed: UInt64, like other: TestWorld, keepsCaptures: Bool = false) {
        let issues = ReportedFaults()
        world = TestWorld(
            seed: seed,
            name: other.name,
            other.appTime,
            keepsCaptures: keepsCaptures,
            rerun: other.rerun,
            filter: other.filter
        ) {
            issues.add(SearchFault(check: "an expectation", text: $0.text))
        }
        surroundings = SearchSurroundings(world)
        ledger = SystemLedger(world)
        self.issues = issues
    }

    /// Runs the world.
    ///
    /// - Parameters:
    ///   - steps: The steps, or their number.
    ///   - drawn: Receives the steps before the first one.
    /// - Returns: What did not hold.
    func faults(
        _ steps: Steps,
        _ setup: @escaping Setup,
        drawn: @escaping @Sendable ([SearchStep]) -> Void = { _ in }
    ) async -> [SearchFault] {
        await gatheringIssues { [self] in
            await WorldSlot(world).withWorld {
                do {
                    try await perform(steps, setup, drawn: drawn)
                } catch {
                    add("an error", "\(error)")
                }
            }
        }
        for fault in issues.take() { add(fault.check, fault.text) }
        let faults = found.withLock { $0 }
        // The hints are about apps that are still running.
        if !faults.isEmpty { explained.withLock { $0 = FailureReport(world: world).explanation } }
        await withTaskExecutorPreference(world.executor) { world.end() }
        return faults
    }

    private func perform(_ steps: Steps, _ setup: Setup, drawn: ([SearchStep]) -> Void) async throws {
        let scenario = try await setup(world)
        let list =
            switch steps {
            case .these(let list): list
            case .drawn(let count): StepDraw(scenario, surroundings.places).steps(count, seed: world.seed)
            }
        drawn(list)
        try await run(scenario, list)
    }

    /// Takes the issues that expectations record meanwhile, in place of the test.
    private func gatheringIssues(_ body: @escaping @Sendable () async -> Void) async {
        guard let test = Test.current else { return await body() }
        let trait = IssueHandlingTrait.compactMapIssues { [issues] issue in
            guard issue.isFailure else { return issue }
            issues.add(SearchFault(check: "an expectation", text: "\(issue)"))
            return nil
        }
        try? await trait.provideScope(for: test, testCase: Test.Case.current) { await body() }
    }

    /// The steps of a world.
    enum Steps: Sendable {
        case these([SearchStep])
        case drawn(Int)
    }

    /// The report of the failure, if the world has ended with one.
    var explanation: WorldExplanation? { explained.withLock { $0 } }

    private var hasFailed: Bool { found.withLock { !$0.isEmpty } }

    private func add(_ check: String, _ text: String) {
        let fault = SearchFault(check: check, text: String(text.prefix(400)), time: WorldTime.text(world.now))
        found.withLock { if $0.count < Self.maximumFaults { $0.append(fault) } }
    }

    private func run(_ scenario: Scenario, _ steps: [SearchStep]) async throws {
        for step in steps {
            try await perform(step, scenario)
            try await check(scenario)
            if hasFailed { return }
        }
        surroundings.repair()
        // Links that have not ended yet may do so.
        await world.run(for: Self.rest)
        try await check(scenario)
        if hasFailed { return }
        try await recover(scenario)
        if hasFailed { return }
        for check in scenario.finalChecks {
            if let complaint = try await check.complaint() { add(check.name, complaint) }
        }
        await world.run(for: Self.rest)
        try await check(scenario)
        guard !hasFailed, scenario.checksSystem else { return }
        for text in ledger.missingCredits() { add("credits", text) }
        for text in ledger.oneSidedSubscriptions() { add("subscriptions", text) }
        if !hasFailed { await checkForLeftovers() }
    }

    private func perform(_ step: SearchStep, _ scenario: Scenario) async throws {
        switch step.content {
        case .wait(let milliseconds): await world.run(for: .milliseconds(milliseconds))
        case .fault(let fault, let device, let app, let number):
            surroundings.perform(fault, device, app: app, number)
            await world.run(for: Self.notice)
        case .own(let name, let number):
            guard let own = scenario.steps.first(where: { $0.name == name }) else {
                return add("a step", "the scenario has no step \(name)")
            }
            try await own.action(number)
        }
    }

    private func recover(_ scenario: Scenario) async throws {
        let (loop, goals) = (world.simulation.loop, scenario.goals)
        let end = loop.waitFor { loop.now } + scenario.recovery
        while loop.waitFor({ loop.now }) < end, !goals.allSatisfy({ $0.condition() }) {
            await world.run(for: .seconds(1))
            try await check(scenario)
            if hasFailed { return }
        }
        for goal in goals where !goal.condition() {
            add(goal.name, "not \(WorldTime.words(scenario.recovery)) after all faults had ended either")
        }
    }

    private func check(_ scenario: Scenario) async throws {
        for fault in issues.take() { add(fault.check, fault.text) }
        for check in scenario.invariants {
            if let complaint = try await check.complaint() { add(check.name, complaint) }
        }
        guard scenario.checksSystem else { return }
        world.simulation.loop.waitFor {}
        for event in world.takeMisuse() { add("misuse of the API", WorldTime.line(event)) }
        let overdue = ledger.overdueCalls(answersAreLate: surroundings.answersAreLate)
        for text in overdue { add("an answer to each call", text) }
    }

    private func checkForLeftovers() async {
        surroundings.endApps()
        await world.run(for: Self.rest)
        for device in surroundings.devices {
            let left = device.withSystem { system in
                let status = system.status
                return [
                    ("links", status.links.count), ("scans", status.scans.count),
                    ("advertisements", status.advertising.count), ("preserved apps", status.preserved.count),
                ]
            }
            for (name, count) in left where count > 0 { add("nothing left over", "\(device.name): \(count) \(name)") }
        }
    }
}

/// Collects the failures of expectations in a searched world.
final class ReportedFaults: Sendable {
    private let faults = Mutex<[SearchFault]>([])

    func add(_ fault: SearchFault) { faults.withLock { $0.append(fault) } }

    func take() -> [SearchFault] {
        faults.withLock { faults in
            defer { faults = [] }
            return faults
        }
    }
}

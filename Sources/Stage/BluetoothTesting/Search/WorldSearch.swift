import Foundation
import Testing

extension TestWorld {
    /// The number of worlds of a search without a number of its own.
    public static let defaultSeeds: ClosedRange<UInt64> = 1...10

    /// Searches for faults: runs a scenario in many worlds with random steps, in parallel processes, and fails the test
    /// if a condition does not hold.
    ///
    /// The report has the shortest list of steps that fails in the same way, as a test to paste. Each process is this
    /// test program again, so that the search also finds code that traps. The test must not have arguments, and the
    /// search has to be its only one.
    ///
    /// The environment overrides the settings: `HARALD_SEARCH_SEEDS=1-1000`, `HARALD_SEARCH_STEPS`,
    /// `HARALD_SEARCH_SECONDS`, `HARALD_SEARCH_WORKERS` (0 for no other processes), `HARALD_SEARCH_LIMIT=300` for the
    /// seconds after which a process is ended, `HARALD_SEARCH_SHARD=3/20`, `HARALD_SEARCH_STATE=FILE` to continue from,
    /// `HARALD_SEARCH_JSON=FILE` for a report, `HARALD_SEARCH_STORIES=DIRECTORY` for the story of each world, and
    /// `HARALD_SEARCH_PROGRESS=1`.
    ///
    /// - Parameters:
    ///   - seeds: The seeds of the worlds.
    ///   - steps: The number of steps in each world.
    ///   - budget: The time of the machine after which no new world is begun; nil for no limit.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    ///   - scenario: Sets a world up, and returns what may happen in it and what has to hold. Meanwhile the global
    ///     `world` is that world.
    public func search(
        seeds: ClosedRange<UInt64> = defaultSeeds,
        steps: Int = 20,
        within budget: Duration? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        of scenario: @escaping @Sendable (TestWorld) async throws -> Scenario
    ) async {
        if SearchWorker.isWorker { return await SearchWorker.serve(self, scenario) }
        var options = SearchOptions(seeds: seeds, steps: steps, budget: budget)
        do {
            try options.adopt()
            // Without a way to run this test alone, this process runs all worlds.
            if rerun.isEmpty { options.workers = 0 }
            let findings = try await WorldSearch(self, options, scenario).run()
            for finding in findings {
                report(WorldIssue(text: finding.text, place: sourceLocation), finding.explanation)
            }
        } catch {
            report(WorldIssue(text: "\(error)", place: sourceLocation))
        }
    }

    /// Repeats a failure that a search has found.
    ///
    /// - Parameters:
    ///   - seed: The seed of the world.
    ///   - steps: The steps.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    ///   - scenario: The scenario that was searched.
    /// - Returns: Whether everything held.
    @discardableResult
    public func replay(
        seed: UInt64,
        _ steps: [SearchStep],
        sourceLocation: SourceLocation = #_sourceLocation,
        of scenario: @escaping @Sendable (TestWorld) async throws -> Scenario
    ) async -> Bool {
        let run = SearchRun(seed: seed, like: self, keepsCaptures: recordings != nil)
        let faults = await run.faults(.these(steps), scenario)
        guard !faults.isEmpty else { return true }
        let issue = WorldIssue(text: faults.map(\.line).joined(separator: "\n"), place: sourceLocation)
        report(issue, run.explanation ?? FailureReport(world: run.world).explanation)
        return false
    }
}

extension SearchFault {
    var line: String { "\(check): \(text)\(time.isEmpty ? "" : ", at \(time)")" }
}

/// A search: worlds by seed, then the reduction of the first failure.
struct WorldSearch {
    private static let progressInterval = Duration.seconds(5)

    private let world: TestWorld
    private let options: SearchOptions
    private let pool: SearchPool
    private var state: SearchState

    init(_ world: TestWorld, _ options: SearchOptions, _ setup: @escaping SearchRun.Setup) throws {
        (self.world, self.options) = (world, options)
        pool = SearchPool(world, setup, size: options.workers, limit: options.limit)
        state = try SearchState(options.state, test: world.name, steps: options.steps)
        if let stories = options.stories {
            try FileManager.default.createDirectory(at: stories, withIntermediateDirectories: true)
        }
    }

    /// The report of a finding.
    struct Issue {
        let text: String
        let explanation: WorldExplanation
    }

    /// Searches, and returns the reports of the findings.
    func run() async throws -> [Issue] {
        let seeds = options.chosen
        var findings = state.findings
        var done = state.done.intersection(seeds)
        // The search ends with its first failure, but worlds that take too long need not have the same cause.
        if findings.allSatisfy(\.fault.isEndless) {
            let failures = try await search(seeds, &done)
            for failure in failures {
                let finding = try await reduced(failure)
                state.add(finding)
                findings.append(finding)
            }
        }
        var issues: [Issue] = []
        for finding in findings { issues.append(try await issue(of: finding)) }
        await pool.close()
        try writeReport(findings, worlds: done.count, of: seeds.count)
        return issues
    }

    private struct Failure {
        let seed: UInt64
        let outcome: SearchOutcome

        /// The first fault, of a world that has one.
        var fault: SearchFault { outcome.faults[0] }
        var isEndless: Bool { outcome.faults.first?.isEndless == true }
    }

    /// Runs worlds until one fails. Returns those that took too long as well.
    private func search(_ seeds: [UInt64], _ done: inout Set<UInt64>) async throws -> [Failure] {
        var left = seeds.filter { !done.contains($0) }.makeIterator()
        let clock = ContinuousClock()
        let start = clock.now
        let (count, stories) = (options.steps, options.stories?.path)
        var shown = start
        return try await withThrowingTaskGroup(of: Failure.self) { [pool] group in
            func begin() {
                if let budget = options.budget, clock.now - start > budget { return }
                guard let seed = left.next() else { return }
                group.addTask {
                    let request = SearchRequest(seed: seed, count: count, stories: stories)
                    return Failure(seed: seed, outcome: try await pool.run(request))
                }
            }
            for _ in 0..<pool.width { begin() }
            var (endless, failure): ([Failure], Failure?) = ([], nil)
            while let ended = try await group.next() {
                done.insert(ended.seed)
                state.add(seed: ended.seed)
                if ended.isEndless {
                    endless.append(ended)
                    note("seed \(ended.seed): \(ended.fault.line)")
                } else if !ended.outcome.faults.isEmpty, failure == nil {
                    failure = ended
                }
                if failure == nil { begin() }
                guard options.showsProgress, clock.now - shown > Self.progressInterval else { continue }
                shown = clock.now
                note("\(done.count) of \(seeds.count) worlds in \(Int((shown - start) / .seconds(1))) s")
            }
            return endless + [failure].compactMap(\.self)
        }
    }

    private func note(_ text: String) {
        FileHandle.standardError.write(Data("search \(world.name): \(text)\n".utf8))
    }

    private func reduced(_ failure: Failure) async throws -> SearchFinding {
        let (steps, fault) = (failure.outcome.steps, failure.fault)
        if fault.isEndless {
            return SearchFinding(seed: failure.seed, fault: fault, steps: steps, drawn: steps.count)
        }
        if options.showsProgress {
            note("seed \(failure.seed) fails (\(fault.check)); its \(steps.count) steps are reduced")
        }
        let few = try await StepReduction.reduced(steps, width: pool.width) { candidates in
            try await firstFailing(candidates, failure.seed, fault.check)
        }
        let last = try await pool.run(SearchRequest(seed: failure.seed, count: 0, steps: few))
        let left = last.faults.first { $0.check == fault.check } ?? fault
        return SearchFinding(seed: failure.seed, fault: left, steps: few, drawn: steps.count)
    }

    private func firstFailing(_ candidates: [[SearchStep]], _ seed: UInt64, _ check: String) async throws -> Int? {
        try await withThrowingTaskGroup(of: Int?.self) { [pool] group in
            for (index, steps) in candidates.enumerated() {
                group.addTask {
                    let outcome = try await pool.run(SearchRequest(seed: seed, count: 0, steps: steps))
                    return outcome.faults.contains { $0.check == check } ? index : nil
                }
            }
            return try await group.reduce(nil) { first, index in [first, index].compactMap(\.self).min() }
        }
    }

    // MARK: Reports

    private func issue(of finding: SearchFinding) async throws -> Issue {
        let count = "\(finding.steps.count) of \(finding.drawn) steps are enough"
        let text = """
            seed \(finding.seed): \(finding.fault.line); \(count)
            a test that repeats it, in which "scenario" stands for the argument of the search:

            \(finding.test(isXCTest: world.rerun.count == 1))
            """
        return Issue(text: text, explanation: try await explanation(of: finding))
    }

    /// The story and the captures of a finding's world, which runs once more for that.
    private func explanation(of finding: SearchFinding) async throws -> WorldExplanation {
        let repetition = FailureReport.repetition(seed: finding.seed, filter: world.filter)
        let none = WorldExplanation(comments: [repetition, "the process ended, so the world has no story"], files: [])
        guard !finding.fault.isEndless else { return none }
        let directory = FileManager.default.temporaryDirectory.appending(path: "harald-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let request = SearchRequest(seed: finding.seed, count: 0, steps: finding.steps, explanation: directory.path)
        _ = try await pool.run(request)
        return (try? WorldExplanation(from: directory)) ?? none
    }

    private func writeReport(_ findings: [SearchFinding], worlds: Int, of count: Int) throws {
        guard let json = options.json else { return }
        let found = findings.map {
            SearchReport.Found(
                seed: $0.seed,
                check: $0.fault.check,
                text: $0.fault.text,
                steps: $0.steps.map(\.code),
                test: $0.test(isXCTest: world.rerun.count == 1)
            )
        }
        let report = SearchReport(
            test: world.name,
            shard: "\(options.shard.number)/\(options.shard.count)",
            seeds: [options.seeds.lowerBound, options.seeds.upperBound],
            worlds: worlds,
            isComplete: worlds == count,
            found: found
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(report) + Data("\n".utf8)).write(to: json)
    }
}

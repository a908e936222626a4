import AppAdvice
import Foundation
import Testing

/// A trait that gives each test case a simulated world, ``world``.
///
/// A failure in such a test, of any kind, comes with its likely causes, the seed and how to repeat it, the time of the
/// world, and a short story of what happened. The captures of all devices and of the air are attached, and so is
/// the whole story; `swift test --attachments-path DIR` keeps them.
///
/// The test fails if an app has misused the API, and if one of its own calls had no effect, such as the crash of an app
/// that has ended.
public struct WorldTrait: TestTrait, SuiteTrait, TestScoping {
    /// The consequence of misuse of the API by apps.
    public enum MisuseRule: Hashable, Sendable {
        /// The test fails. The default.
        case fails
        /// The test may succeed. ``TestWorld/misuse`` has what happened.
        case isAllowed
    }

    /// The time that clocks and timers in the code of apps follow.
    public enum AppTime: Hashable, Sendable {
        /// That of the world, as far as the code does not block threads. The default.
        ///
        /// `Date`, `ContinuousClock`, `SuspendingClock`, `DispatchTime`, `DispatchQueue.asyncAfter`, dispatch timers,
        /// `Timer` on the main run loop and `Task.sleep` follow the world, in the code of a launch, in callbacks, and
        /// in what these submit to queues and tasks, and in the threads that they start. On such a thread,
        /// `Thread.sleep`, and semaphores and groups with a time-out, wait in the time of the world. On a queue they
        /// wait by the clock of the machine, and so do sockets and `URLSession`. The story notes when an app sleeps so.
        ///
        /// On platforms other than Linux with glibc, and with ThreadSanitizer, apps follow the clock of the machine.
        case world
        /// That of the machine.
        case machine
    }

    let seed: UInt64
    let misuse: MisuseRule
    let appTime: AppTime
    let keepsCaptures: Bool

    /// Whether the trait of a suite is that of its tests.
    public var isRecursive: Bool { true }

    /// Returns this trait for each test case.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> WorldTrait? {
        test.isSuite || testCase == nil ? nil : self
    }

    /// Runs a test case in a world of its own.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let scope = WorldScope(test, self, of: testCase)
        TestWorld.slot?.replace()
        try await scope.slot.withWorld {
            try await IssueHandlingTrait.compactMapIssues { scope.explain($0) }
                .provideScope(for: test, testCase: testCase) { try await scope.perform(function) }
        }
        scope.attachFiles { Attachment.record($0.octets, named: $0.name, sourceLocation: test.sourceLocation) }
        await scope.end()
    }
}

extension Trait where Self == WorldTrait {
    /// Gives each test case a simulated world with seed 1, ``BluetoothTesting/world``.
    public static var world: WorldTrait { .world() }

    /// Gives each test case a simulated world, ``BluetoothTesting/world``.
    ///
    /// The variable `HARALD_SEED` of the environment takes precedence over `seed`.
    ///
    /// - Parameters:
    ///   - seed: The seed of all randomness in the world.
    ///   - misuse: The consequence of misuse of the API by apps.
    ///   - appTime: The time that clocks and timers in the code of apps follow.
    ///   - keepsCaptures: Whether captures of the devices and the air are kept for the report of a failure. Tests with
    ///     many hours of traffic save time without.
    public static func world(
        seed: UInt64 = WorldSeed.standard,
        misuse: WorldTrait.MisuseRule = .fails,
        appTime: WorldTrait.AppTime = .world,
        keepsCaptures: Bool = true
    ) -> WorldTrait {
        WorldTrait(seed: seed, misuse: misuse, appTime: appTime, keepsCaptures: keepsCaptures)
    }
}

/// The seeds of tests.
public enum WorldSeed {
    /// The seed of tests without one of their own.
    public static let standard: UInt64 = 1
    /// The environment variable with the seed for all tests of a run.
    public static let variable = "HARALD_SEED"

    /// Returns the seed of the environment, or else that of the test; and a complaint about the environment.
    static func chosen(
        _ seed: UInt64,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> (seed: UInt64, complaint: String?) {
        guard let text = environment[variable] else { return (seed, nil) }
        guard let chosen = UInt64(text) else { return (seed, "\(variable) is no number from 0 on: \(text)") }
        return (chosen, nil)
    }
}

/// One test case in its world.
struct WorldScope: Sendable {
    let slot: WorldSlot
    private let test: Test
    private let trait: WorldTrait
    private let complaint: String?

    init(_ test: Test, _ trait: WorldTrait, of testCase: Test.Case? = nil) {
        let (seed, complaint) = WorldSeed.chosen(trait.seed)
        (self.test, self.trait, self.complaint) = (test, trait, complaint)
        slot = WorldSlot(
            TestWorld(
                seed: seed,
                name: ([test.name] + CaseArguments.texts(of: testCase)).joined(separator: " "),
                trait.appTime,
                keepsCaptures: trait.keepsCaptures,
                rerun: ["--testing-library", "swift-testing", "--filter", "^\(Self.filter(test))\\("],
                filter: Self.filter(test)
            ) {
                Issue.record(Comment(rawValue: $0.text), sourceLocation: $0.place ?? test.sourceLocation)
            }
        )
    }

    /// Runs the test, and checks at its end that nothing was misused.
    func perform(_ function: @Sendable () async throws -> Void) async throws {
        if let complaint { Issue.record(Comment(rawValue: complaint), sourceLocation: test.sourceLocation) }
        do {
            try await function()
        } catch let error where isIssue(error) {
            // Swift Testing would record it outside of this scope, and so without an explanation.
            Issue.record(error, sourceLocation: test.sourceLocation)
        }
        guard let world = slot.world, !slot.isReplaced else { return }
        await world.check(trait.misuse, at: test.sourceLocation)
    }

    /// Whether an error that ends the test is recorded as an issue. The others have been recorded before, or cancel the
    /// test.
    private func isIssue(_ error: any Error) -> Bool {
        !(error is ExpectationFailedError) && !(error is CancellationError) && !Task.isCancelled
    }

    func explain(_ issue: Issue) -> Issue {
        guard issue.isFailure, !slot.isReplaced, let world = slot.world else { return issue }
        var explained = issue
        let other = issue.comments.first.flatMap { world.explanation(of: $0.rawValue) }
        let text = issue.comments.map(\.rawValue).joined(separator: "\n")
        let comments = other?.comments ?? slot.explain(text, by: FailureReport(world: world))
        explained.comments += comments.map { Comment(rawValue: $0) }
        return explained
    }

    func attachFiles(_ attach: (WorldFile) -> Void) {
        guard let world = slot.world else { return }
        let own = slot.hasFailed ? FailureReport(world: world).files : []
        for file in own + world.filesOfOthers { attach(file) }
    }

    func end() async {
        guard let world = slot.world else { return }
        slot.clear()
        await withTaskExecutorPreference(world.executor) { world.end() }
    }

    private static func filter(_ test: Test) -> String {
        let names = [test.id.moduleName] + test.id.nameComponents
        // The parentheses would be part of a regular expression.
        let path = String(names.joined(separator: "/").prefix { $0 != "(" })
        return path.replacing("/", with: ".", maxReplacements: 1)
    }
}

extension TestWorld {
    /// Checks at the end of a test that no app has misused the API, and that all calls of the test had an effect.
    func check(_ rule: WorldTrait.MisuseRule, at place: SourceLocation?) async {
        await withTaskExecutorPreference(executor) { [self] in checkHere(rule, at: place) }
    }

    func checkHere(_ rule: WorldTrait.MisuseRule, at place: SourceLocation?) {
        if rule == .fails { _ = checkMisuse(at: place) }
        for text in story.blocked { report(WorldIssue(text: text, place: place)) }
        let ignored = story.ignored
        guard !ignored.isEmpty else { return }
        let title = ignored.count == 1 ? "a call had no effect:" : "\(ignored.count) calls had no effect:"
        let lines = Story(of: ignored).digest(maximum: Self.maximumIssueLines, WorldTime.text)
        report(WorldIssue(text: ([title] + lines).joined(separator: "\n"), place: place))
    }
}

/// The arguments of a test case, as text for the name of its world.
enum CaseArguments {
    static let maximumLength = 40

    /// Returns the texts of the arguments; none for a test without parameters.
    ///
    /// Swift Testing has no public name for the arguments, so that they are found by reflection. If that fails, there
    /// are none.
    static func texts(of testCase: Test.Case?) -> [String] {
        guard let testCase else { return [] }
        return arguments(in: testCase, depth: 3).map { String("\($0)".prefix(maximumLength)) }
    }

    private static func arguments(in value: Any, depth: Int) -> [Any] {
        guard depth > 0 else { return [] }
        let mirror = Mirror(reflecting: value)
        if let list = mirror.descendant("arguments") {
            return Mirror(reflecting: list).children.compactMap { Mirror(reflecting: $0.value).descendant("value") }
        }
        for child in mirror.children {
            let found = arguments(in: child.value, depth: depth - 1)
            if !found.isEmpty { return found }
        }
        return []
    }
}

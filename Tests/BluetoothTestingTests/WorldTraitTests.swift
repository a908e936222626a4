import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import BluetoothTesting

/// The worlds of tests with the trait, and the explanations of their failures.
@Suite struct WorldTraitTests {
    @Test("each test case has a fresh world", .world, arguments: 1...3)
    func aWorldForEachCase(number: Int) async {
        #expect(world.now == .zero)
        #expect(world.story.lines().isEmpty)
        await world.run(for: .seconds(number))
        #expect(world.now == .seconds(number))
    }

    @Test("the seed and the name of the world are those of the test", .world(seed: 7))
    func aSeed() {
        #expect(world.seed == WorldSeed.chosen(7).seed)
        #expect(world.name == "aSeed()")
        #expect(world.simulation.name == "aSeed()")
    }

    @Test("a test without the trait fails, and has a world", .gathers(Self.namesTheTrait))
    func noTrait() async {
        let phone = world.addDevice(named: "Phone")
        await world.run(for: .seconds(1))
        #expect(phone.world === world.simulation)
    }

    @Sendable private static func namesTheTrait(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        #expect(
            issues.first?.text.hasPrefix("noTrait() has no world: give the test or its suite the trait .world") == true
        )
    }

    @Test("HARALD_SEED replaces the seed of the test, and is refused if it is no number")
    func theSeedOfTheEnvironment() {
        #expect(WorldSeed.chosen(7, [:]).seed == 7)
        #expect(WorldSeed.chosen(7, ["HARALD_SEED": "12"]).seed == 12)
        #expect(WorldSeed.chosen(7, ["HARALD_SEED": "12"]).complaint == nil)
        #expect(WorldSeed.chosen(7, ["HARALD_SEED": "many"]).seed == 7)
        #expect(WorldSeed.chosen(7, ["HARALD_SEED": "many"]).complaint == "HARALD_SEED is no number from 0 on: many")
    }

    @Test("a failed expectation comes with seed, time, story and misuse", .gathers(Self.explains), .world(seed: 7))
    func aFailedExpectation() async {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        pair.belt.send([0, 61])
        await world.run(for: .seconds(1))
        #expect(pair.follower.notes.all.isEmpty)
    }

    @Sendable private static func explains(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        let comments = issues.first?.comments ?? []
        #expect(comments.count == 3)
        let seed = WorldSeed.chosen(7).seed
        let filter = "BluetoothTestingTests.WorldTraitTests/aFailedExpectation"
        #expect(comments.first == "seed \(seed); to repeat: HARALD_SEED=\(seed) swift test --filter '\(filter)'")
        #expect(comments.contains { $0.hasPrefix("the world's time: 00:0") })
        let story = comments.first { $0.hasPrefix("the story") } ?? ""
        #expect(story.contains("Belt: is switched on at (0, 0)"))
        #expect(story.contains("Phone: is switched on at (1, 0)"))
        #expect(story.contains("Phone: follower ← connected"))
        #expect(story.contains("61 bpm"))
    }

    @Test("an error that ends the test is explained too", .gathers(Self.explainsError), .world)
    func anError() throws {
        world.addDevice(named: "Phone")
        throw CBError(.unknown)
    }

    @Sendable private static func explainsError(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        #expect(issues.first?.issue.error is CBError)
        #expect(issues.first?.text.contains("Phone: is switched on") == true)
    }

    @Test("a requirement that is not met is reported once", .gathers { #expect($0.count == 1) }, .world)
    func aRequirement() throws {
        try #require(Bool(false))
    }

    @Test("later failures of a test have only the story since the one before", .gathers(Self.shortens), .world)
    func manyFailures() {
        let phone = world.addDevice(named: "Phone")
        #expect(Bool(false))
        #expect(Bool(false))
        phone.move(to: Position(x: 2))
        #expect(Bool(false))
    }

    @Sendable private static func shortens(_ issues: [GatheredIssue]) {
        #expect(issues.count == 3)
        #expect(issues.first?.text.contains("to repeat") == true)
        #expect(issues.first?.text.contains("00:00.000 Phone: is switched on at (0, 0)") == true)
        #expect(issues.dropFirst().first?.comments == ["the world's time: 00:00.000"])
        let story = "the story since the last failure:\n00:00.000 Phone: moves to (2, 0)"
        #expect(issues.last?.comments == ["the world's time: 00:00.000", story])
    }

    @Test("misuse of the API fails a test", .gathers(Self.namesMisuse), .world)
    func misuseFails() async {
        let app = Self.misuses(in: world)
        await world.run(for: .seconds(1))
        withExtendedLifetime(app) {}
    }

    @Sendable private static func namesMisuse(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        let first = issues.first?.comments.first ?? ""
        #expect(first.hasPrefix("apps misused the API once\n00:0"))
        #expect(
            issues.first?.comments.dropFirst().first?.hasPrefix("likely cause: API MISUSE: Phone: tracker: ") == true
        )
        #expect(first.contains("Phone: tracker: "))
        #expect(first.contains("scanForPeripherals"))
        #expect(issues.first?.text.contains("API MISUSE: tracker") == true)
    }

    @Test("a test may allow misuse, and looks at it itself", .world(misuse: .isAllowed))
    func misuseIsAllowed() async {
        let app = Self.misuses(in: world)
        await world.run(for: .seconds(1))
        #expect(world.misuse.count == 1)
        withExtendedLifetime(app) {}
    }

    @Test("misuse that a test expects not to be there is reported once", .gathers { #expect($0.count == 1) }, .world)
    func misuseIsReportedOnce() async {
        let app = Self.misuses(in: world)
        await world.run(for: .seconds(1))
        #expect(!world.expectNoMisuse())
        #expect(world.expectNoMisuse())
        withExtendedLifetime(app) {}
    }

    private static func misuses(in world: TestWorld) -> CBCentralManager {
        world.addDevice(named: "Phone").launch("tracker") { _ in
            let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
            // Neither manager has received the power state yet.
            manager.scanForPeripherals(withServices: nil)
            return manager
        }
    }

    @Test("a call on an app that has ended fails a test", .gathers(Self.namesCall), .world)
    func aCallWithoutEffect() throws {
        let phone = world.addDevice(named: "Phone")
        phone.launch("follower") { _ in TestFollower() }
        let app = try #require(phone.app("follower"))
        #expect(app.crash())
        #expect(!app.crash())
        #expect(!app.leave())
    }

    @Sendable private static func namesCall(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        let text = issues.first?.comments.first ?? ""
        #expect(text.hasPrefix("2 calls had no effect:\n"))
        #expect(text.contains("Phone: crash() of follower: the app is not running: it ended or crashed"))
    }

    @Test("worlds of parallel tests do not share their stories", .world, arguments: 1...4)
    func worldsAreApart(number: Int) async {
        let pair = TestPair(in: world)
        #expect(await world.until { pair.follower.notes.all.contains("connected") })
        let lines = world.story.lines()
        #expect(lines.filter { $0.contains("Phone: is switched on") }.count == 1)
    }
}

/// A suite whose trait is that of its tests.
@Suite(.world(seed: 3)) struct WorldSuiteTests {
    @Test func theTraitOfASuiteIsThatOfItsTests() {
        #expect(world.seed == WorldSeed.chosen(3).seed)
    }

    @Test(
        "a test's own trait takes precedence, and its failures are explained once",
        .gathers(Self.once),
        .world(seed: 4)
    )
    func theTraitOfATestTakesPrecedence() {
        #expect(world.seed == WorldSeed.chosen(4).seed)
        #expect(Bool(false))
    }

    @Sendable private static func once(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        #expect(issues.first?.comments.filter { $0.contains("to repeat") }.count == 1)
    }
}

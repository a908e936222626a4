import CoreBluetooth
import Foundation
import TestBasics
import XCTest

@testable import BluetoothTesting

/// The base class for XCTest, in its own subclass.
final class WorldTestCaseTests: WorldTestCase {
    override var seed: UInt64 { 7 }

    func testSynchronousSteps() {
        let pair = TestPair(in: world)
        XCTAssertTrue(world.until { pair.follower.notes.all.last == "subscribed" })
        pair.belt.send([0, 61])
        XCTAssertTrue(world.expect(pair.follower.notes.all.last, equals: "61 bpm"))
        XCTAssertTrue(world.expectNothing(for: .seconds(5)))
        XCTAssertTrue(world.expectUnchanged(pair.follower.notes.all.count, for: .seconds(5)))
    }

    func testAsynchronousSteps() async {
        let pair = TestPair(in: world)
        let isSubscribed = await world.until { pair.follower.notes.all.last == "subscribed" }
        XCTAssertTrue(isSubscribed)
    }

    func testTheMainQueue() {
        let pair = TestPair(in: world, followerQueue: nil)
        XCTAssertTrue(world.until { pair.follower.notes.all.last == "subscribed" })
    }

    func testAnInstalledAppOnTheMainActor() {
        let phone = world.addDevice(named: "Phone")
        phone.installOnMainActor("app") { _, _ in MainActorApp() }
        phone.open("app")
        XCTAssertTrue(world.until { phone.app("app", as: MainActorApp.self) != nil })
        world.run(for: .seconds(1))
        let app = phone.app("app", as: MainActorApp.self)
        XCTAssertTrue(MainActor.assumeIsolated { app?.isOn == true })
    }

    func testAnInstalledAppOnTheMainActorInAnAsynchronousTest() async {
        let phone = world.addDevice(named: "Phone")
        phone.installOnMainActor("app") { _, _ in MainActorApp() }
        phone.open("app")
        await world.run(for: .seconds(5))
        let isOn = await phone.app("app", as: MainActorApp.self)?.isOn
        XCTAssertEqual(isOn, true)
    }

    func testAManagerOutsideOfAllApps() {
        let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        XCTAssertTrue(explained("x").contains("outside of all apps"))
        withExtendedLifetime(manager) {}
    }

    func testEachTestHasAWorldOfItsOwn() {
        XCTAssertEqual(world.now, .zero)
        XCTAssertTrue(world.name.hasSuffix("testEachTestHasAWorldOfItsOwn"))
    }
}

/// The files of a failed test. The failure is expected here.
final class WorldTestCaseFilesTests: WorldTestCase {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "attachments-\(UUID().uuidString)")
    private var isFailing = false

    override func recordFailure(
        withDescription description: String,
        inFile filePath: String,
        atLine lineNumber: Int,
        expected: Bool
    ) {
        guard !isFailing else { return _ = explained(description) }
        super.recordFailure(withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
    }

    override func invokeTest() {
        setenv(Self.attachmentsVariable, directory.path, 1)
        super.invokeTest()
        unsetenv(Self.attachmentsVariable)
        isFailing = false
        defer { try? FileManager.default.removeItem(at: directory) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let test = "WorldTestCaseFilesTests.testAFailureLeavesFiles-seed-"
        for ending in ["Phone.btsnoop", "air.pcapng", "story.txt"] {
            let name = names.first { $0.hasPrefix(test) && $0.hasSuffix(ending) }
            XCTAssertNotNil(name, "\(names) lacks \(ending)")
            let octets = try? Data(contentsOf: directory.appending(path: name ?? ""))
            XCTAssertFalse(octets?.isEmpty ?? true, "\(ending) is empty")
        }
        XCTAssertEqual(names.count, 3)
    }

    func testAFailureLeavesFiles() {
        isFailing = true
        world.addDevice(named: "Phone")
        XCTAssertFalse(world.until(within: .seconds(1), "the belt is found") { false })
    }
}

/// Failures, which are expected here, with their explanations.
final class WorldTestCaseFailureTests: WorldTestCase {
    private var descriptions: [String] = []
    private var isWatching = false

    override func recordFailure(
        withDescription description: String,
        inFile filePath: String,
        atLine lineNumber: Int,
        expected: Bool
    ) {
        guard isWatching else {
            return super.recordFailure(
                withDescription: description,
                inFile: filePath,
                atLine: lineNumber,
                expected: expected
            )
        }
        descriptions.append(explained(description))
    }

    override func invokeTest() {
        super.invokeTest()
        isWatching = false
        let texts = descriptions
        descriptions = []
        XCTAssertEqual(texts.count, 1)
        for expected in [
            "the belt is found; it was not", "; to repeat: HARALD_SEED=", "the story:\n00:00.000 Phone: is switched on",
        ] {
            XCTAssertTrue(texts.first?.contains(expected) == true, texts.first ?? "no failure")
        }
    }

    func testAConditionThatIsLate() {
        isWatching = true
        world.addDevice(named: "Phone")
        XCTAssertFalse(world.until(within: .seconds(1), "the belt is found") { false })
    }
}

import Synchronization
import XCTest

@testable import BluetoothTesting

/// A search in a test case of XCTest. Its processes are the test program with this test case alone.
final class SearchTestCaseTests: WorldTestCase {
    private var failures: [String] = []
    private var comments: [String] = []
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
        failures.append(description)
        comments += world.explanation(of: description)?.comments ?? []
    }

    override func invokeTest() {
        isWatching = true
        super.invokeTest()
        isWatching = false
        let found = failures
        // In a process of the search there is none.
        guard !SearchWorker.isWorker, VirtualAppTime.isSupported else { return }
        XCTAssertEqual(found.count, 1)
        for part in [
            "fewer than three: it does not hold", "3 of 8 steps are enough", "func testSeed1() async {\n",
            "await world.replay(seed: 1, [\n",
        ] {
            XCTAssertTrue(found.first?.contains(part) == true, "\(part) is missing in \(found)")
        }
        let isStory = { (text: String) in
            text.hasPrefix("the story") && text.contains("\n00:00.000 Phone: is switched on")
        }
        XCTAssertTrue(comments.contains(where: isStory), "\(comments)")
    }

    func testASearch() async {
        guard VirtualAppTime.isSupported else { return }
        await world.search(seeds: 1...1, steps: 8) { world in
            world.addDevice(named: "Phone")
            let count = Mutex(0)
            return Scenario(faults: .radio).step("count", weight: 20) { _ in count.withLock { $0 += 1 } }
                .always("fewer than three") { count.withLock { $0 } < 3 }
        }
    }
}

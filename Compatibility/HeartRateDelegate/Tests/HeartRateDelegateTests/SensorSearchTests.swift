import XCTest

@testable import HeartRateDelegate

final class SensorSearchTests: XCTestCase {
    private final class Listener: NSObject, SensorSearchDelegate {
        var calls: [String] = []
        var onEnd: (() -> Void)?

        func searchDidEnd(_ search: SensorSearch) {
            calls.append("end: \(search.reason ?? "-")")
            onEnd?()
        }

        func search(_ search: SensorSearch, didShow text: String, for rate: Int) { calls.append("\(rate): \(text)") }
    }

    func testATimerCallsTheMethodWithItsInformation() {
        let (search, listener) = (SensorSearch(), Listener())
        search.delegate = listener
        let ended = expectation(description: "ended")
        listener.onEnd = { ended.fulfill() }
        search.start(for: 0.01)
        XCTAssertEqual(search.reason, "not scanning")
        XCTAssertEqual(search.states.first, 0)
        search.show(72)
        waitForExpectations(timeout: 60)
        XCTAssertEqual(listener.calls, ["72: 72 bpm", "end: time is up"])
    }

    func testANotificationCallsTheMethodUntilTheObserverIsRemoved() {
        let (search, listener) = (SensorSearch(), Listener())
        search.delegate = listener
        search.start(for: 600)
        NotificationCenter.default.post(name: SensorSearch.shouldEnd, object: nil)
        search.stopListening()
        NotificationCenter.default.post(name: SensorSearch.shouldEnd, object: nil)
        XCTAssertEqual(listener.calls, ["end: told"])
    }

    func testAnObjectHasAssociatedObjects() {
        let search = SensorSearch()
        XCTAssertNil(search.note)
        search.note = "first"
        XCTAssertEqual(search.note, "first")
        XCTAssertNil(SensorSearch().note)
        search.note = nil
        XCTAssertNil(search.note)
    }

    func testAnActorRunsOnASerialQueue() async {
        let counter = Counter()
        let count = await counter.count()
        XCTAssertEqual(count, 1)
    }
}

private actor Counter {
    private let queue = DispatchSerialQueue(label: "counter")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    private var total = 0

    func count() -> Int {
        dispatchPrecondition(condition: .onQueue(queue))
        total += 1
        return total
    }
}

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
}

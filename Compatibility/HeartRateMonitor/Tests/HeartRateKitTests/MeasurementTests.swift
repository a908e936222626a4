import Combine
import XCTest

@testable import HeartRateKit

final class MeasurementTests: XCTestCase {
    func testARateOfOneOctetAndOneOfTwo() {
        XCTAssertEqual(HeartRateMeasurement(Data([0, 72]))?.beatsPerMinute, 72)
        XCTAssertEqual(HeartRateMeasurement(Data([1, 0x2C, 1]))?.beatsPerMinute, 300)
        XCTAssertNil(HeartRateMeasurement(Data([1, 72])))
    }

    func testAPseudonymIsTheSameEachTime() throws {
        let identifier = try XCTUnwrap(UUID(uuidString: "00000000-0000-0000-0000-000000000001"))
        // The first octets of the SHA-256 of the text.
        XCTAssertEqual(pseudonym(of: identifier), "7ac1b8d7")
    }

    func testAMonitorPublishesWhatItReceives() {
        let monitor = HeartRateMonitor()
        var rates: [Int] = []
        let subscription = monitor.rates.sink { rates.append($0) }
        for value in [[0, 60], [], [0, 61]] as [[UInt8]] { monitor.received(Data(value)) }
        XCTAssertEqual(rates, [60, 61])
        XCTAssertEqual(monitor.valueCount, 2)
        subscription.cancel()
        monitor.received(Data([0, 62]))
        XCTAssertEqual(rates, [60, 61])
    }

    func testAListTellsOfEachChange() {
        let list = SensorList()
        var changes = 0
        var names: [[String]] = []
        let subscriptions = [
            list.objectWillChange.sink { changes += 1 }, list.$names.sink { names.append($0.values.sorted()) },
        ]
        list.add("Belt", for: UUID())
        list.add("Watch", for: UUID())
        XCTAssertEqual(changes, 2)
        XCTAssertEqual(names, [[], ["Belt"], ["Belt", "Watch"]])
        subscriptions.forEach { $0.cancel() }
    }

    func testAPaceTellsThatItHasChanged() {
        let pace = Pace()
        var changes = 0
        pace.note(at: 10)
        withObservationTracking {
            XCTAssertNil(pace.interval)
        } onChange: {
            changes += 1
        }
        pace.note(at: 10.5)
        XCTAssertEqual(pace.interval, 0.5)
        XCTAssertEqual(changes, 1)
        pace.note()
        XCTAssertEqual(pace.interval ?? 0, CFAbsoluteTimeGetCurrent() - 10.5, accuracy: 60)
    }
}

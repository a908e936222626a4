import Foundation
import GatewayStore
import SensorRecords
import Testing

@Suite struct StoreTests {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path()

    func records(_ numbers: ClosedRange<UInt32>) -> [SensorRecord] {
        numbers.map { SensorRecord(sequence: $0, isRepeated: false, time: 5, value: 7) }
    }

    @Test func aRecordRoundTrips() {
        let record = SensorRecord(sequence: 0x0102_0304, isRepeated: true, time: 0x0005_0607_0809_0A0B, value: 0x0C0D)
        #expect(SensorRecord(record.octets) == record)
        #expect(SensorRecord(record.octets.dropLast()) == nil)
    }

    @Test func recordsSurviveTheProcessInOrder() throws {
        #expect(try Store(path: path).add(records(1...3), of: "S1", received: 9))
        let waiting = try Store(path: path).next(10)
        #expect(waiting.map(\.record.sequence) == [1, 2, 3])
        #expect(waiting.allSatisfy { $0.sensor == "S1" && $0.received == 9 && !$0.record.isRepeated })
    }

    @Test func aRecordIsStoredOnce() throws {
        let store = try Store(path: path)
        #expect(try store.add(records(1...3), of: "S1", received: 9))
        #expect(try store.add(records(2...4), of: "S1", received: 9))
        #expect(try store.next(10).map(\.record.sequence) == [1, 2, 3, 4])
        #expect(try store.next(0, removing: [1, 2, 3, 4]).isEmpty)
        // Also after the broker has it.
        #expect(try store.add(records(3...4), of: "S1", received: 9))
        #expect(try store.count() == 0)
    }

    @Test func possiblyDeliveredRecordsAreMarked() throws {
        let store = try Store(path: path)
        #expect(try store.add(records(1...3), of: "S1", received: 9))
        #expect(try store.next(2).map(\.record.isRepeated) == [false, false])
        #expect(try store.next(0, removing: [1]).isEmpty)
        try store.forgetConnection()
        let again = try store.next(10)
        #expect(again.map(\.record.sequence) == [2, 3])
        #expect(again.map(\.record.isRepeated) == [true, false])
    }

    @Test func aFullStoreTakesNothing() throws {
        let store = try Store(path: path, limit: 2)
        #expect(try store.add(records(1...2), of: "S1", received: 9))
        #expect(try !store.add(records(3...3), of: "S1", received: 9))
        let first = try store.next(1).map(\.id)
        #expect(try store.next(0, removing: first).isEmpty)
        #expect(try store.add(records(3...3), of: "S1", received: 9))
    }
}

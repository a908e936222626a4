import Testing

@testable import CoreBluetoothExtras

@Suite("Streams of events")
struct EventStreamTests {
    @Test("a stream buffers up to its limit, and reports that more was lost")
    func overflow() async throws {
        let (stream, source) = EventStream<Int>.make(limit: 2)
        for number in 1...3 { source.send(number) }
        var seen: [Int] = []
        await #expect(throws: ExtrasError.overflow) {
            for try await number in stream { seen.append(number) }
        }
        #expect(seen == [1, 2])
    }
}

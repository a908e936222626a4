import BluetoothTypes
import SampleMessages
import ServiceMessages
import Testing

/// Apps that run for a long time. `Benchmarks/run day` covers a whole simulated day.
@Suite struct LongRunTests {
    @Test("of a hundred notifications per second, for minutes, each is delivered in order, and none accumulate")
    func aHundredNotificationsASecond() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        let bell = try #require(bench.handles[EnhancedBearerBench.bell])
        let request = Request.setNotify(peer: bench.peer, characteristic: bell, enabled: true)
        _ = try bench.app.ask(request, "subscribed", \.notifyState)
        bench.ringer.take()
        var told = 0
        var credits = 0
        for second in 0..<120 {
            for index in 0..<100 {
                let number = UInt16(second * 100 + index)
                let value: PacketBuffer = [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
                let update = Request.updateValue(
                    characteristic: EnhancedBearerBench.bellID,
                    value: value,
                    centrals: nil
                )
                bench.ringer.send(update)
                bench.world.run(.milliseconds(10))
            }
            for answer in bench.values() {
                let expected: PacketBuffer = [UInt8(truncatingIfNeeded: told), UInt8(told >> 8)]
                guard answer.value == expected else { return #expect(answer.value == expected) }
                told += 1
            }
            credits += bench.ringer.take().compactMap(\.updateCredits).reduce(0, +)
            // Only what one connection interval delays is outstanding.
            #expect((second + 1) * 100 - told < 10)
            #expect((second + 1) * 100 - credits < 10)
        }
        bench.world.run(.seconds(1))
        #expect(told + bench.values().count == 12_000)
    }
}
